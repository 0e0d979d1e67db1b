import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type LineLimits, LINE_LIMITS, readLines } from './read-lines.ts'

type Given = Parameters<typeof readLines>[0]

const { signal } = new AbortController()
const turns = (): Promise<void> => Promise.resolve()

function requestOf(chunks: readonly Uint8Array[], encoding?: string): Given {
  const body = ReadableStream.from(chunks)
  const headers = encoding === undefined ? {} : { 'content-encoding': encoding }
  return {
    request: new Request('http://x', { method: 'POST', body, headers, duplex: 'half' }),
    signal,
    turns,
    cut,
  }
}

async function linesOf(call: Given, limits: LineLimits = LINE_LIMITS): Promise<string[]> {
  return (await Array.fromAsync(readLines(call, limits))).flat()
}

function cut(): void {
  throw new Error('nothing was silent for so long')
}

/** Cut anywhere, also inside a character. */
function slice(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return at.slice(1).map((end, nth) => bytes.slice(at[nth], end))
}

const PACKED = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: zstdCompressSync,
} as const

describe('readLines', () => {
  it('A3 gives the same lines however the body is cut and packed', async () => {
    const line = fc
      .string({ unit: fc.constantFrom('a', '"', '\n', '\u2028', 'ü', '€', '😀'), maxLength: 30 })
      .map((text) => JSON.stringify(text))
    const encodings = fc.constantFrom(
      undefined,
      'gzip' as const,
      'deflate' as const,
      'br' as const,
      'zstd' as const,
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 20 }),
        fc.array(fc.nat(2000), { maxLength: 10 }),
        encodings,
        fc.boolean(),
        async (lines, places, encoding, isEnded) => {
          const plain = Buffer.from(lines.join('\r\n\n') + (isEnded ? '\n' : ''))
          const bytes = encoding === undefined ? plain : PACKED[encoding](plain)
          const found = await linesOf(requestOf(slice(new Uint8Array(bytes), places), encoding))
          expect(found.map((each) => each.trimEnd())).toEqual(lines)
        },
      ),
      { numRuns: 60 },
    )
  })

  it.each([
    ['too many lines', '1\n'.repeat(11), { lines: 10 }],
    ['a line that is too long', 'x'.repeat(101), { chars: 100 }],
    ['too many bytes, be they empty lines', '\n'.repeat(1001), { bytes: 1000 }],
  ])('A2 refuses %s', async (_, text, limits) => {
    for (const [bytes, encoding] of [
      [Buffer.from(text), undefined],
      [gzipSync(text), 'gzip'],
    ] as const)
      await expect(
        linesOf(requestOf([new Uint8Array(bytes)], encoding), { ...LINE_LIMITS, ...limits }),
      ).rejects.toMatchObject({ code: 'too_large' })
  })

  it.each([
    ['what is no gzip', [1, 2, 3], 'gzip', 'bad_payload'],
    ['a gzip that breaks off', [...gzipSync('{}\n{}').subarray(0, 12)], 'gzip', 'bad_payload'],
    ['an encoding that nobody knows', [1], 'rot13', 'wrong_media'],
    ['what is no UTF-8', [0x22, 0xff], undefined, 'bad_payload'],
    ['a character that breaks off', [0xe2, 0x82], undefined, 'bad_payload'],
  ])('A2 refuses %s', async (_, bytes, encoding, code) => {
    await expect(linesOf(requestOf([new Uint8Array(bytes)], encoding))).rejects.toMatchObject({ code })
  })

  it('A2 unpacks no more of a bomb than is asked for', async () => {
    let unpacked = 0
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024, '1\n'))
    const reading = readLines(requestOf([new Uint8Array(bomb)], 'gzip'))
    for await (const lines of reading) {
      unpacked += lines.length
      if (unpacked > 1000) break
    }
    expect(unpacked).toBeLessThan(100_000)
  })
})

describe('a call whose token is revoked', () => {
  it('A2 gives no further line, neither of the chunk that is there nor of the next', async () => {
    const lines = Buffer.from('x\n'.repeat(600))
    for (const chunks of [[lines], [Buffer.from('x\n'), lines]]) {
      const controller = new AbortController()
      const reading = readLines({ ...requestOf(chunks), signal: controller.signal })
      await reading.next()
      controller.abort(new Error('revoked'))
      await expect(reading.next()).rejects.toThrow('revoked')
    }
  })

  it('A2 does not wait for a chunk that does not come', async () => {
    const controller = new AbortController()
    const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) })
    const request = new Request('http://x', { method: 'POST', body, duplex: 'half' })
    const next = expect(readLines({ request, signal: controller.signal, turns, cut }).next()).rejects.toThrow(
      'revoked',
    )
    controller.abort(new Error('revoked'))
    await next
  })
})

describe('a stream that has fallen silent', () => {
  it('A2 is cut, however much came before', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { promise, reject } = Promise.withResolvers<never>()
    async function* body(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode('1\n2\n')
      await promise
    }
    const request = new Request('http://x', {
      method: 'POST',
      body: ReadableStream.from(body()),
      duplex: 'half',
    })
    const reading = readLines({ request, signal, turns, cut: () => reject(new Error('cut')) })
    expect((await reading.next()).value).toEqual(['1', '2'])
    const next = expect(reading.next()).rejects.toThrow('cut')
    await vi.advanceTimersByTimeAsync(9 * 60_000)
    await vi.advanceTimersByTimeAsync(2 * 60_000)
    await next
  })
})
