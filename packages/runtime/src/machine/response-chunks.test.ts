import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createResponseChunks, type ResponseChunk } from './response-chunks.ts'

const piece = (
  given: string[],
  name: string,
  cameAt: number,
  after: string | null = null,
  dueAt = 0,
): ResponseChunk => ({
  after,
  cameAt,
  dueAt,
  give: () => void given.push(name),
})

describe('pieces of recorded calls', () => {
  it('D4 wait for the end that they came after', () => {
    const given: string[] = []
    const pieces = createResponseChunks()
    pieces.add([piece(given, 'a', 1), piece(given, 'b', 2, 'end'), piece(given, 'c', 3, 'end')])
    expect(pieces.give(() => false)).toBe('given')
    expect(given).toEqual(['a'])
    expect([pieces.isNext(() => false), pieces.give(() => false)]).toEqual([false, 'none'])
    expect([pieces.isNext(() => true), pieces.give((id) => id === 'end')]).toEqual([true, 'given'])
    expect(given).toEqual(['a', 'b', 'c'])
    expect(pieces.give(() => true)).toBe('none')
  })

  it('D3 of several calls come as they came, one call at a time', () => {
    const line = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 8 })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
        const given: string[] = []
        const pieces = createResponseChunks()
        const all = lines.flatMap((times, n) =>
          times.toSorted((a, b) => a - b).map((time, at) => ({ time: time * 4 + n, name: `${n}.${at}` })),
        )
        for (const [n] of lines.entries())
          pieces.add(
            all
              .filter(({ name }) => name.startsWith(`${n}.`))
              .map(({ time, name }) => piece(given, name, time)),
          )
        for (let before = 0; pieces.give(() => true) === 'given'; before = given.length)
          expect(new Set(given.slice(before).map((name) => name[0])).size).toBe(1)
        const expected = all.toSorted((a, b) => a.time - b.time).map(({ name }) => name)
        expect(given).toEqual(expected)
      }),
      { numRuns: 100 },
    )
  })

  it('D4 say how long to wait when they take their time', () => {
    const given: string[] = []
    const pieces = createResponseChunks()
    pieces.add([piece(given, 'now', 1), piece(given, 'later', 2, null, performance.now() + 60_000)])
    expect(pieces.give(() => true)).toBe('given')
    expect(pieces.give(() => true)).toBeGreaterThan(1000)
    expect(given).toEqual(['now'])
  })
})
