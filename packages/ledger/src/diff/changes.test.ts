import fc from 'fast-check'
import { expect, it } from 'vitest'
import { differInWords, findChanges, shortText } from './changes.ts'

it('V10 names the places where two values differ', () => {
  expect(findChanges({ a: 1, b: [1, 2], c: 'x' }, { a: 1, b: [1, 3, 4], d: null })).toEqual([
    { path: '$.b[1]', expected: '2', received: '3' },
    { path: '$.b[2]', expected: null, received: '4' },
    { path: '$.c', expected: '"x"', received: null },
    { path: '$.d', expected: null, received: 'null' },
  ])
})

it('V10 shows long texts from their first difference on', () => {
  const [change] = findChanges(`${'same '.repeat(100)}left`, `${'same '.repeat(100)}right`)
  expect(change?.expected).toMatch(/^"….*left"$/)
  expect(change?.received?.length).toBeLessThan(140)
})

it('V10 tells sentences from data', () => {
  expect(differInWords({ a: 'the price is too high' }, { a: 'that costs far too much' })).toBe(true)
  expect(differInWords({ a: 'the price is too high', n: 1 }, { a: 'that costs far too much', n: 2 })).toBe(
    false,
  )
  expect(differInWords('Z7GOZK', 'K67C4W')).toBe(false)
})

it('V10 equal values have no changes, and a depth of thousands no danger', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(findChanges(value, structuredClone(value))).toEqual([])
    }),
  )
  const deep = (leaf: number): unknown => {
    let value: unknown = leaf
    for (let i = 0; i < 5000; i++) value = [value]
    return value
  }
  expect(findChanges(deep(1), deep(2))).toHaveLength(1)
  expect(shortText(deep(1))?.length).toBeLessThan(130)
})
