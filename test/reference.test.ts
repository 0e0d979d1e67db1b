import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { referenceText } from '../scripts/write-reference.ts'
import { ROOT } from './architecture/source-files.ts'

it('A1 docs/reference.md is what `npm run reference` makes of the list of operations', () => {
  expect(readFileSync(join(ROOT, 'docs/reference.md'), 'utf8')).toBe(`${referenceText().trimEnd()}\n`)
})
