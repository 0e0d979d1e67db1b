import { type OtlpAttributes, type OtlpValue, putAttribute } from './structure.ts'
import {
  broken,
  fields,
  readBytes,
  readDouble,
  readInt64,
  readMessageEnd,
  readText,
  readUint32,
  skipField,
  type WireReader,
} from './wire-reader.ts'

/** Limit of nesting. */
export const MAX_DEPTH = 64

const ONE = fields(1)
const TWO = fields(1, 2)
const VALUE = fields(1, 2, 3, 4, 5, 6, 7)

/** All messages of field 1. */
export function readList<T>(reader: WireReader, end: number, message: string, read: (end: number) => T): T[] {
  const list: T[] = []
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x0a) list.push(read(readMessageEnd(reader, end)))
    else skipField(reader, end, tag, ONE, message)
  }
  return list
}

export function readAttribute(
  reader: WireReader,
  end: number,
  attributes: Record<string, OtlpValue>,
  depth = 0,
): void {
  let key = ''
  let value: OtlpValue = null
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x0a) key = readText(reader, end)
    else if (tag === 0x12) value = readValue(reader, readMessageEnd(reader, end), depth)
    else skipField(reader, end, tag, TWO, 'KeyValue')
  }
  putAttribute(attributes, key, value)
}

export function readValue(reader: WireReader, end: number, depth: number): OtlpValue {
  if (depth > MAX_DEPTH) broken(reader.at, `a value nests deeper than ${MAX_DEPTH} levels`)
  let value: OtlpValue = null
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x0a) value = readText(reader, end)
    else if (tag === 0x10) value = readUint32(reader, end) !== 0
    else if (tag === 0x18) value = readInt64(reader, end)
    else if (tag === 0x21) value = readDouble(reader, end)
    else if (tag === 0x2a)
      value = readList(reader, readMessageEnd(reader, end), 'ArrayValue', (inner) =>
        readValue(reader, inner, depth + 1),
      )
    else if (tag === 0x32) value = readKeyValues(reader, readMessageEnd(reader, end), depth + 1)
    else if (tag === 0x3a) value = readBytes(reader, end)
    else skipField(reader, end, tag, VALUE, 'AnyValue')
  }
  return value
}

function readKeyValues(reader: WireReader, end: number, depth: number): OtlpAttributes {
  const attributes: Record<string, OtlpValue> = {}
  while (reader.at < end) {
    const tag = readUint32(reader, end)
    if (tag === 0x0a) readAttribute(reader, readMessageEnd(reader, end), attributes, depth)
    else skipField(reader, end, tag, ONE, 'KeyValueList')
  }
  return attributes
}
