import { expect, it } from 'vitest'
import { distance, nearMisses } from './near-miss.ts'
import { shortIds } from './resolve-run.ts'

it('counts edits, a swap of neighbours as one', () => {
  expect([
    distance('runs', 'runs'),
    distance('rnus', 'runs'),
    distance('run', 'runs'),
    distance('', 'abc'),
  ]).toEqual([0, 1, 1, 3])
})

it('suggests what was probably meant, nearest first, and nothing far away', () => {
  expect(nearMisses('complete', ['completed', 'failed', 'deleted'])).toEqual(['completed'])
  expect(nearMisses('demo-5b5b1x', ['demo-5b5b19', 'demo-5b5b19-writer', 'other'])).toEqual([
    'demo-5b5b19',
    'demo-5b5b19-writer',
  ])
  expect(nearMisses('xyz', ['completed', 'failed'])).toEqual([])
})

it('shows of long ids as much as keeps them apart', () => {
  const ids = ['01a1deab-f098-7000-9271-1e75d092d92a', '01a1deab-f08c-7000-9e81-2ad3cbbb521f']
  expect(shortIds(ids)).toEqual(['01a1deab-f09', '01a1deab-f08'])
  expect(shortIds([ids[0] as string])).toEqual(['01a1deab'])
  expect(shortIds(['a-readable-id', 'b'])).toEqual(['a-readable-id', 'b'])
})
