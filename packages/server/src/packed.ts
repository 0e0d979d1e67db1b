import { promisify } from 'node:util'
import { constants, gzip, zstdCompress } from 'node:zlib'

/** Below this packing costs more than it saves. */
const MIN_PACKED_BYTES = 1024

const PACK = {
  zstd: (bytes: Uint8Array) =>
    promisify(zstdCompress)(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes, { level: 5 }),
} as const
type Packing = keyof typeof PACK

/** The first way that the caller takes; what it gives a weight of 0 it does not take. */
export function choosePacking(accepted: string | null): Packing | undefined {
  const taken = new Set<string>()
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', ...options] = part.split(';').map((each) => each.trim())
    if (!options.some((option) => /^q=0(?:\.0*)?$/.test(option))) taken.add(name)
  }
  if (taken.has('zstd')) return 'zstd'
  return taken.has('gzip') || taken.has('*') ? 'gzip' : undefined
}

/** The bytes in the best encoding that the client accepts, with its header. */
export async function pack(
  bytes: Uint8Array,
  accepted: string | null,
): Promise<{ readonly bytes: Uint8Array; readonly headers: Record<string, string> }> {
  const way = bytes.byteLength < MIN_PACKED_BYTES ? undefined : choosePacking(accepted)
  if (way === undefined) return { bytes, headers: {} }
  return { bytes: await PACK[way](bytes), headers: { 'content-encoding': way } }
}
