import { Buffer } from 'node:buffer'
import { ClewError } from '@clew/ledger'

/** Wire types of protocol buffers. A tag is the number of the field and one of these. */
export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2
export const FIXED32 = 5

/** An export of 512 spans has some hundred kilobytes; what is larger than this is no export. */
const MAX_BYTES = 64 * 1024 * 1024
/** An empty part takes two bytes on the wire and many more in memory, so their number is limited as well. */
export const MAX_PARTS = 6_000_000
/** Number of parts that a span, a record, an event or a link counts for. */
export const PARTS_OF_ITEM = 40
/** Limit of a span or record, so that the text of its event stays below the limit of the ledger even when it is escaped. */
export const MAX_ITEM_BYTES = 8 * 1024 * 1024

export interface WireReader {
  readonly bytes: Buffer
  readonly view: DataView
  at: number
  partsLeft: number
}

export function createWireReader(body: Uint8Array): WireReader {
  if (body.length > MAX_BYTES)
    throw new ClewError(
      'too_large',
      `The OTLP body has ${body.length} bytes, more than ${MAX_BYTES}`,
      'Let the exporter send smaller batches; nothing of this one was taken.',
      { size: body.length, most: MAX_BYTES },
    )
  const { buffer, byteOffset, length } = body
  return {
    bytes: Buffer.from(buffer, byteOffset, length),
    view: new DataView(buffer, byteOffset, length),
    at: 0,
    partsLeft: MAX_PARTS,
  }
}

/** The one way in which a body is refused: what was found at which byte. */
export function broken(offset: number, what: string): never {
  throw new ClewError(
    'broken_import',
    `The OTLP body is broken at byte ${offset}: ${what}`,
    'Send OTLP as protobuf to its own path, traces to /v1/traces and logs to /v1/logs; nothing of this body was taken.',
    { offset },
  )
}

/** A varint that fits into 32 bits: tags, lengths, counts, enums. */
export function readUint32(reader: WireReader, end: number): number {
  const { bytes } = reader
  const start = reader.at
  let value = 0
  for (let shift = 0; shift < 70; shift += 7) {
    if (reader.at >= end) broken(start, 'a number ends too early')
    const byte = bytes[reader.at++] as number
    if (shift < 28) value |= (byte & 0x7f) << shift
    else if (shift === 28) value = (value | ((byte & 0x0f) << 28)) >>> 0
    if (byte < 0x80) return value >>> 0
  }
  return broken(start, 'a number has more than ten bytes')
}

/** A signed 64-bit varint; a bigint only where a number would not be exact. */
export function readInt64(reader: WireReader, end: number): number | bigint {
  const { bytes } = reader
  const start = reader.at
  let low = 0
  for (let shift = 0; shift < 28; shift += 7) {
    if (reader.at >= end) broken(start, 'a number ends too early')
    const byte = bytes[reader.at++] as number
    low |= (byte & 0x7f) << shift
    if (byte < 0x80) return low
  }
  let value = BigInt(low)
  for (let shift = 28n; shift < 70n; shift += 7n) {
    if (reader.at >= end) broken(start, 'a number ends too early')
    const byte = bytes[reader.at++] as number
    value |= BigInt(byte & 0x7f) << shift
    if (byte < 0x80) return toExact(BigInt.asIntN(64, value))
  }
  return broken(start, 'a number has more than ten bytes')
}

/** As a number where that is exact. */
export function toExact(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

export function readFixed64(reader: WireReader, end: number): bigint {
  return reader.view.getBigUint64(advance(reader, end, 8), true)
}

export const readDouble = (reader: WireReader, end: number): number =>
  reader.view.getFloat64(advance(reader, end, 8), true)

export const readFixed32 = (reader: WireReader, end: number): number =>
  reader.view.getUint32(advance(reader, end, 4), true)

function advance(reader: WireReader, end: number, length: number): number {
  const start = reader.at
  if (length > end - start) broken(start, `${length} bytes are announced and ${end - start} are left`)
  reader.at = start + length
  return start
}

/** Reads a length prefix and returns the end of the message that starts here. */
export function readMessageEnd(reader: WireReader, end: number, parts = 1): number {
  const length = readUint32(reader, end)
  const start = reader.at
  if (length > end - start) broken(start, `${length} bytes are announced and ${end - start} are left`)
  reader.partsLeft -= parts
  if (reader.partsLeft < 0) broken(start, 'it has more parts than any export')
  return start + length
}

export function readBytes(reader: WireReader, end: number): Uint8Array {
  const start = advance(reader, end, readUint32(reader, end))
  return new Uint8Array(reader.bytes.subarray(start, reader.at))
}

export function readHex(reader: WireReader, end: number): string {
  const start = advance(reader, end, readUint32(reader, end))
  return reader.bytes.toString('hex', start, reader.at)
}

export function readText(reader: WireReader, end: number): string {
  const start = advance(reader, end, readUint32(reader, end))
  return reader.bytes.toString('utf8', start, reader.at)
}

/** The numbers of the fields that a message is known to have, as bits. */
export const fields = (...numbers: readonly number[]): number =>
  numbers.reduce((bits, number) => bits | (1 << number), 0)

/**
 * Skips an unknown field. A known field (a bit of `known`) with another wire type is an error: logs sent to the path of
 * traces look like that.
 */
export function skipField(
  reader: WireReader,
  end: number,
  tag: number,
  known: number,
  message: string,
): void {
  const field = tag >>> 3
  const type = tag & 7
  const { at } = reader
  if (field === 0) broken(at, `a field of ${message} has the number 0`)
  if (field < 31 && (known & (1 << field)) !== 0)
    broken(at, `field ${field} of ${message} has the wire type ${type}, which it cannot have`)
  if (type === VARINT) readInt64(reader, end)
  else if (type === FIXED64) advance(reader, end, 8)
  else if (type === BYTES) advance(reader, end, readUint32(reader, end))
  else if (type === FIXED32) advance(reader, end, 4)
  else broken(at, `a field of ${message} has the wire type ${type}, which OTLP does not use`)
}
