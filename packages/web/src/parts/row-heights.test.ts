import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRowHeights } from './row-heights.ts'

const heights = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 900 })

describe('heights of rows', () => {
  it('U3 after any measuring, offsets are sums, and every offset belongs to the row that covers it', () => {
    fc.assert(
      fc.property(
        heights,
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 900 })), { maxLength: 60 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }),
        (guessed, measured, shares) => {
          const rows = createRowHeights(guessed.length, (row) => guessed[row] ?? 0)
          const expected = [...guessed]
          for (const [draw, height] of measured) {
            const row = draw % expected.length
            expect(rows.measure(row, height)).toBe(height - (expected[row] ?? 0))
            expected[row] = height
          }
          const starts = [0]
          for (const height of expected) starts.push((starts.at(-1) ?? 0) + height)
          expect(rows.total()).toBe(starts.at(-1))
          for (const [row, start] of starts.entries()) {
            expect(rows.offsetOf(row)).toBe(start)
            if (row === expected.length) continue
            expect(rows.rowAt(start)).toBe(row)
            expect(rows.rowAt(start + (expected[row] ?? 0) - 0.5)).toBe(row)
          }
          for (const share of shares) {
            const offset = share * rows.total()
            const row = rows.rowAt(offset)
            expect(rows.offsetOf(row)).toBeLessThanOrEqual(offset)
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('U3 what lies outside belongs to the first or the last row', () => {
    const rows = createRowHeights(3, () => 10)
    expect([rows.rowAt(-5), rows.rowAt(29), rows.rowAt(30), rows.rowAt(900)]).toEqual([0, 2, 2, 2])
    expect([rows.measure(3, 99), rows.measure(-1, 99), rows.total()]).toEqual([0, 0, 30])
    const none = createRowHeights(0, () => 10)
    expect([none.total(), none.offsetOf(0), none.rowAt(5)]).toEqual([0, 0, 0])
  })
})
