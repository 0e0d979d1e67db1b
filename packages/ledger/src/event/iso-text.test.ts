import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isoMs, isoText } from './iso-text.ts'

const LAST_MS = 8.64e15
const now = Date.UTC(2026, 10, 15, 12)

it('E2 times are printed and read as Date does, whatever was printed before', () => {
  const near = fc.integer({ min: -3000, max: 3000 }).map((ms) => now + ms)
  const any = fc.oneof(
    near,
    fc.integer({ min: -5000, max: 5000 }),
    fc.integer({ min: -LAST_MS, max: LAST_MS }),
    fc.double({ min: -1e13, max: 1e13, noNaN: true }),
  )
  fc.assert(
    fc.property(fc.array(any, { minLength: 1, maxLength: 12 }), (times) => {
      for (const ms of times) {
        const text = new Date(ms).toISOString()
        expect(isoText(ms)).toBe(text)
        expect(isoMs(text)).toBe(Date.parse(text))
      }
    }),
    { numRuns: 300 },
  )
})

it('E2 what is no time, or another spelling of one, is read as Date does', () => {
  isoText(now)
  const texts = ['', 'x', '2026-11-15T12:00:00.1x0Z', '2026-11-15T12:00:00.-10Z', '2026-11-15T12:00:00.000z']
  for (const text of [
    ...texts,
    '2026-11-15T12:00:00.9:9Z',
    '2026-11-15T12:00:00.12345Z',
    '2026-11-15T12:00:00Z',
  ])
    expect(isoMs(text)).toBe(Date.parse(text))
  for (const ms of [Number.NaN, Number.POSITIVE_INFINITY, LAST_MS + 1])
    expect(() => isoText(ms)).toThrow(RangeError)
})
