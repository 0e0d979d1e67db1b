import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { ClewError } from '@clew/ledger'
import { receiveBody } from './receive-body.ts'

export interface BodyLimits {
  readonly sentBytes: number
  readonly unpackedBytes: number
}

type Unpack = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>

const UNPACK: Readonly<Record<string, Unpack>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
}

/** The body of a request, decompressed as its `content-encoding` says. Stops reading at the limit, whatever length was announced. */
export async function readBody(
  request: Request,
  limits: BodyLimits,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limits.sentBytes) throw tooLarge(limits.sentBytes)
  const sent = await readUpTo(request, limits.sentBytes, signal)
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return sent
  const unpack = Object.hasOwn(UNPACK, encoding) ? UNPACK[encoding] : undefined
  if (!unpack)
    throw new ClewError(
      'wrong_media',
      'The content encoding of the body is not supported',
      `Use ${Object.keys(UNPACK).join(', ')}, or none.`,
      {},
    )
  try {
    return await unpack(sent, { maxOutputLength: limits.unpackedBytes })
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(limits.unpackedBytes)
    throw new ClewError(
      'bad_payload',
      `The body cannot be decompressed as ${encoding}`,
      'Send it whole, compressed once. Nothing was done.',
      {},
      error,
    )
  }
}

async function readUpTo(request: Request, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of receiveBody(request.body, signal)) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size)
}

const tooLarge = (limit: number): ClewError =>
  new ClewError(
    'too_large',
    `The body is larger than ${limit} bytes`,
    'Send it in several requests. Nothing was done.',
    { limit },
  )
