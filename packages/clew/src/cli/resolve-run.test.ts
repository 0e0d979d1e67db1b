import { expect, it } from 'vitest'
import { shortIds } from './resolve-run.ts'

it('shows of long ids as much as keeps them apart', () => {
  const ids = ['01a1deab-f098-7000-9271-1e75d092d92a', '01a1deab-f08c-7000-9e81-2ad3cbbb521f']
  expect(shortIds(ids)).toEqual(['01a1deab-f09', '01a1deab-f08'])
  expect(shortIds([ids[0] as string])).toEqual(['01a1deab'])
  expect(shortIds(['a-readable-id', 'b'])).toEqual(['a-readable-id', 'b'])
})
