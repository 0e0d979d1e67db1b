import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHILDREN_AT_ONCE, jsonRows, previewValue } from './json-rows.ts'

function deep(levels: number): unknown {
  let value: unknown = 'bottom'
  for (let level = 0; level < levels; level++) value = { in: value }
  return value
}

/** Opens whatever is closed, as somebody would who clicks it all open. */
function openAll(value: unknown, most: number): Map<string, number> {
  const open = new Map<string, number>()
  for (let round = 0; round < most; round++) {
    const closed = jsonRows(value, open).filter(({ kind }) => kind === 'closed')
    if (closed.length === 0) break
    for (const { path } of closed) open.set(path, CHILDREN_AT_ONCE)
  }
  return open
}

describe('rows of a value', () => {
  it('U2 a value 10,000 deep has one row, and one more for each level that is opened', () => {
    const value = deep(10_000)
    expect(jsonRows(value, new Map())).toHaveLength(1)
    expect(jsonRows(value, new Map([['$', 100]]))).toHaveLength(2)
    expect(jsonRows(value, openAll(value, 40))).toHaveLength(41)
    expect(previewValue(value, 40)).toBe('{ in: { in: { in: { in: { in: { in: { in…')
  })

  it('U2 a million keys are shown a hundred at a time', () => {
    const rows = jsonRows(
      Array.from({ length: 1_000_000 }, (_, index) => index),
      new Map([['$', CHILDREN_AT_ONCE]]),
    )
    expect(rows).toHaveLength(CHILDREN_AT_ONCE + 2)
    expect(rows.at(-1)).toMatchObject({ kind: 'more', left: 1_000_000 - CHILDREN_AT_ONCE })
  })

  it('U2 all open, every part of a value has its own row, whatever its keys are', () => {
    const parts = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, each) => sum + parts(each), 1)
        : 1
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const rows = jsonRows(value, openAll(value, 10))
        expect(rows).toHaveLength(parts(value))
        expect(new Set(rows.map(({ path }) => path)).size).toBe(rows.length)
      }),
      { numRuns: 150 },
    )
  })

  it('U2 a preview is never longer than asked for, and tells short values whole', () => {
    expect(previewValue({ q: 'owls', n: [1, 2], deep: null })).toBe('{ q: "owls", n: [1, 2], deep: null }')
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(previewValue(value, 30).length).toBeLessThanOrEqual(31)
      }),
      { numRuns: 100 },
    )
  })
})
