import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatCount } from './format-count.ts'

it('writes whole numbers as the English of the United States does', () => {
  const everyLength = fc
    .integer({ min: 0, max: 15 })
    .chain((digits) => fc.integer({ min: -(10 ** digits), max: 10 ** digits }))
  fc.assert(
    fc.property(everyLength, (count) => {
      expect(formatCount(count)).toBe(count.toLocaleString('en-US'))
    }),
  )
  expect([0, 999, 1000, -1000, 1e15, 1234.5].map(formatCount)).toEqual([
    '0',
    '999',
    '1,000',
    '-1,000',
    '1,000,000,000,000,000',
    '1,234.5',
  ])
})
