import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readSse } from './read-sse.ts'

const STREAM =
  ': hello\n\nid: 1\nevent: event\ndata: {"a":"ü→"}\n\ndata: one\r\ndata: two\r\n\r\nretry: 5\n\nid: 7\n\ndata: left open'

function bodyOf(cuts: readonly number[]): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(STREAM)
  const places = [...new Set([0, ...cuts.map((cut) => cut % bytes.length), bytes.length])].sort(
    (a, b) => a - b,
  )
  return new ReadableStream({
    start(controller) {
      for (const [index, from] of places.entries())
        controller.enqueue(bytes.slice(from, places[index + 1] ?? from))
      controller.close()
    },
  })
}

describe('readSse', () => {
  it('U1 gives the same messages however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(200), { maxLength: 12 }), async (cuts) => {
        expect(await Array.fromAsync(readSse(bodyOf(cuts)))).toEqual([
          { event: 'event', id: '1', data: '{"a":"ü→"}' },
          { event: null, id: null, data: 'one\ntwo' },
          { event: null, id: '7', data: null },
        ])
      }),
      { numRuns: 60 },
    )
  })
})
