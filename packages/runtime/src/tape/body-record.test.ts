import { createRedactor } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { chunkBytes, piecesOf, toBodyRecord } from './body-record.ts'

const redactor = createRedactor({}, () => '1')
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const began = { startedAt: 1000, cause: 'head', type: 'text/plain', end: {} }

describe('the record of a body', () => {
  it('D4 says after which event its chunks came, as far as that is another one than before', () => {
    const record = toBodyRecord(
      [
        { ms: 1, bytes: bytes('a'), after: 'head' },
        { ms: 2, bytes: bytes('b'), after: 'other' },
        { ms: 3, bytes: bytes('c'), after: 'other' },
        { ms: 9, bytes: bytes('d'), after: 'third' },
      ],
      began,
      redactor,
    )
    expect(record).toEqual({
      chunks: [
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
        [9, 'd'],
      ],
      startedAt: 1000,
      after: [
        [1, 'other'],
        [3, 'third'],
      ],
    })
    const given: number[] = []
    const pieces = piecesOf(record, 'at once', (at) => void given.push(at))
    expect(pieces.map(({ after, cameAt, dueAt }) => [after, cameAt, dueAt])).toEqual([
      [null, 1001, 0],
      ['other', 1002, 0],
      ['other', 1003, 0],
      ['third', 1009, 0],
    ])
    for (const piece of pieces) piece.give()
    expect(given).toEqual([0, 1, 2, 3])
  })

  it('D4 at original speed its chunks are due as far apart as they came', () => {
    const arrivals = [10, 250, 300].map((ms) => ({ ms, bytes: bytes('x'), after: 'head' }))
    const due = piecesOf(toBodyRecord(arrivals, began, redactor), 'original', () => {}).map(
      ({ dueAt }) => dueAt,
    )
    const [first = 0, second = 0, third = 0] = due
    expect(first).toBeGreaterThan(0)
    expect([Math.round(second - first), Math.round(third - second)]).toEqual([240, 50])
  })

  it('D4 keeps bytes that are no text, and how it broke off', () => {
    const arrivals = [{ ms: 0, bytes: Uint8Array.from([0xff, 0x00, 0x80]), after: null }]
    const record = toBodyRecord(arrivals, { ...began, end: { ended: 'cancelled' } }, redactor)
    expect(record).toMatchObject({ encoding: 'base64', ended: 'cancelled' })
    expect([...chunkBytes(record, record.chunks[0]?.[1] ?? '')]).toEqual([0xff, 0x00, 0x80])
  })
})
