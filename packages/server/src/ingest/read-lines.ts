import type { Duplex } from 'node:stream'
import { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { TextDecoder } from 'node:util'
import { ClewError } from '@clew/ledger'
import { receiveBody } from '../receive-body.ts'
import type { Call } from '../route.ts'

const UNPACK: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** Limits of one request of lines. */
export interface LineLimits {
  readonly lines: number
  /** Decompressed size of all lines. */
  readonly bytes: number
  /** Size of one line. */
  readonly chars: number
}

const MB = 1024 * 1024

export const LINE_LIMITS: LineLimits = { lines: 100_000, bytes: 1024 * MB, chars: 8 * MB }

const BATCH = 500

/** A live stream may be silent while an agent works. After this long it is cut. */
const SILENCE_MS = 10 * 60_000

/**
 * The lines of a body as they arrive, in batches; empty lines are skipped. A caller that takes one batch at a time slows
 * the sender down, so no more than a batch is held. Throws when the token of the call is revoked, also between two batches.
 */
export async function* readLines(
  { request, signal, turns, cut }: Pick<Call, 'request' | 'signal' | 'turns' | 'cut'>,
  limits: LineLimits = LINE_LIMITS,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  let bytes = 0
  let lines = 0

  function* take(text: string): Generator<readonly string[]> {
    const found = (rest + text).split('\n')
    rest = found.pop() ?? ''
    if (rest.length > limits.chars || found.some((line) => line.length > limits.chars))
      throw tooLarge(`a line of more than ${limits.chars} characters`)
    const full = found.filter((line) => line.trim() !== '')
    lines += full.length
    if (lines > limits.lines) throw tooLarge(`more than ${limits.lines} lines`)
    for (let at = 0; at < full.length; at += BATCH) {
      signal.throwIfAborted()
      yield full.slice(at, at + BATCH)
    }
  }

  for await (const chunk of unpacked(request, signal, cut)) {
    bytes += chunk.byteLength
    if (bytes > limits.bytes) throw tooLarge(`more than ${limits.bytes} bytes`)
    await turns(chunk.byteLength)
    yield* take(decode(decoder, chunk))
  }
  yield* take(`${decode(decoder)}\n`)
}

function unpacked(request: Request, signal: AbortSignal, cut: () => void): AsyncIterable<Uint8Array> {
  const body = spoken(receiveBody(request.body, signal), cut)
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return body
  const unpack = Object.hasOwn(UNPACK, encoding) ? UNPACK[encoding] : undefined
  if (!unpack)
    throw new ClewError(
      'wrong_media',
      'The content encoding of the body is not supported',
      `Use ${Object.keys(UNPACK).join(', ')}, or none.`,
      {},
    )
  return inflate(body, unpack(), encoding)
}

/** Cuts the connection after too long a silence; time in which no chunk was asked for does not count. */
async function* spoken(body: AsyncIterable<Uint8Array>, cut: () => void): AsyncGenerator<Uint8Array> {
  let late = setTimeout(cut, SILENCE_MS)
  try {
    for await (const chunk of body) {
      clearTimeout(late)
      yield chunk
      late = setTimeout(cut, SILENCE_MS)
    }
  } finally {
    clearTimeout(late)
  }
}

async function* inflate(
  body: AsyncIterable<Uint8Array>,
  unpack: Duplex,
  encoding: string,
): AsyncGenerator<Uint8Array> {
  const source = Readable.from(body)
  source.once('error', (error) => unpack.destroy(error))
  source.pipe(unpack)
  try {
    yield* unpack as AsyncIterable<Uint8Array>
  } catch (error) {
    if (!isZlibError(error)) throw error
    throw new ClewError(
      'bad_payload',
      `The body cannot be decompressed as ${encoding}`,
      'What was read before the error is stored; send all of it again, compressed once.',
      {},
      error,
    )
  } finally {
    source.destroy()
    unpack.destroy()
  }
}

function isZlibError(error: unknown): boolean {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return (
    typeof code === 'string' && /^Z_|^ZSTD_|^ERR_|BROTLI/.test(code) && code !== 'ERR_STREAM_PREMATURE_CLOSE'
  )
}

function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
  } catch {
    throw new ClewError(
      'bad_payload',
      'The body is not UTF-8',
      'What was read before the error is stored; send all of it again as UTF-8.',
      {},
    )
  }
}

const tooLarge = (what: string): ClewError =>
  new ClewError(
    'too_large',
    `The body has ${what}`,
    'What was read before the error is stored; send the rest in other requests. Sending all of it again is safe.',
    {},
  )
