import { Buffer } from 'node:buffer'
import { BYTES, FIXED32, FIXED64, VARINT } from './wire-reader.ts'

/**
 * Writes from the end to the beginning: when the length of a message is asked for, the message is there already. So
 * fields are written last to first, and lists from their last item on.
 */
export interface WireWriter {
  /** How many bytes are written so far: what `message` measures from. */
  size(): number
  /** Ends (that is: begins) a message whose content was written since `from`. */
  message(field: number, from: number): void
  varint(field: number, value: number | bigint): void
  fixed64(field: number, value: bigint): void
  fixed32(field: number, value: number): void
  double(field: number, value: number): void
  bytes(field: number, value: Uint8Array): void
  text(field: number, value: string): void
  finish(): Uint8Array
}

export function createWireWriter(): WireWriter {
  let buffer = Buffer.allocUnsafe(1024)
  let at = buffer.length

  function need(length: number): void {
    if (at >= length) return
    const used = buffer.length - at
    const grown = Buffer.allocUnsafe(Math.max(buffer.length * 2, used + length))
    buffer.copy(grown, grown.length - used, at)
    at = grown.length - used
    buffer = grown
  }

  function putUint(value: number | bigint): void {
    const bytes: number[] = []
    if (typeof value === 'number' && value >= 0 && value <= 0xffff_ffff) {
      let rest = value
      for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
      bytes.push(rest)
    } else {
      let rest = BigInt.asUintN(64, BigInt(value))
      for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
      bytes.push(Number(rest))
    }
    need(bytes.length)
    at -= bytes.length
    for (const [nth, byte] of bytes.entries()) buffer[at + nth] = byte
  }

  const putTag = (field: number, type: number): void => putUint(field * 8 + type)

  const writer: WireWriter = {
    size: () => buffer.length - at,
    message(field, from) {
      putUint(buffer.length - at - from)
      putTag(field, BYTES)
    },
    varint(field, value) {
      putUint(value)
      putTag(field, VARINT)
    },
    fixed64(field, value) {
      need(8)
      at -= 8
      buffer.writeBigUInt64LE(BigInt.asUintN(64, value), at)
      putTag(field, FIXED64)
    },
    fixed32(field, value) {
      need(4)
      at -= 4
      buffer.writeUInt32LE(value >>> 0, at)
      putTag(field, FIXED32)
    },
    double(field, value) {
      need(8)
      at -= 8
      buffer.writeDoubleLE(value, at)
      putTag(field, FIXED64)
    },
    bytes(field, value) {
      need(value.length)
      at -= value.length
      buffer.set(value, at)
      putUint(value.length)
      putTag(field, BYTES)
    },
    text(field, value) {
      const length = Buffer.byteLength(value)
      need(length)
      at -= length
      buffer.write(value, at, length)
      putUint(length)
      putTag(field, BYTES)
    },
    finish: () => new Uint8Array(buffer.subarray(at)),
  }
  return writer
}
