import { Buffer } from 'node:buffer'
import type { OtlpAttributes, OtlpLink, OtlpSpan, OtlpSpanEvent, OtlpTraces, OtlpValue } from './structure.ts'
import { createWireWriter, type WireWriter } from './wire-writer.ts'

/** The body of an export of traces. Everything is written last to first: see `createWireWriter`. */
export function encodeTracesProtobuf({ resourceSpans }: OtlpTraces): Uint8Array {
  const writer = createWireWriter()
  for (const { resource, scopeSpans, schemaUrl } of resourceSpans.toReversed())
    within(writer, 1, () => {
      if (schemaUrl !== '') writer.text(3, schemaUrl)
      for (const { scope, spans, schemaUrl: own } of scopeSpans.toReversed())
        within(writer, 2, () => {
          if (own !== '') writer.text(3, own)
          for (const span of spans.toReversed()) within(writer, 2, () => writeSpan(writer, span))
          within(writer, 1, () => {
            writeCount(writer, 4, scope.droppedAttributesCount)
            writeAttributes(writer, 3, scope.attributes)
            if (scope.version !== '') writer.text(2, scope.version)
            if (scope.name !== '') writer.text(1, scope.name)
          })
        })
      within(writer, 1, () => {
        writeCount(writer, 2, resource.droppedAttributesCount)
        writeAttributes(writer, 1, resource.attributes)
      })
    })
  return writer.finish()
}

function within(writer: WireWriter, field: number, write: () => void): void {
  const from = writer.size()
  write()
  writer.message(field, from)
}

function writeCount(writer: WireWriter, field: number, count: number): void {
  if (count !== 0) writer.varint(field, count)
}

function writeId(writer: WireWriter, field: number, hex: string): void {
  if (hex !== '') writer.bytes(field, Buffer.from(hex, 'hex'))
}

function writeSpan(writer: WireWriter, span: OtlpSpan): void {
  const { status } = span
  if (span.flags !== 0) writer.fixed32(16, span.flags)
  if (status.code !== 0 || status.message !== '')
    within(writer, 15, () => {
      writeCount(writer, 3, status.code)
      if (status.message !== '') writer.text(2, status.message)
    })
  writeCount(writer, 14, span.droppedLinksCount)
  for (const link of span.links.toReversed()) within(writer, 13, () => writeLink(writer, link))
  writeCount(writer, 12, span.droppedEventsCount)
  for (const event of span.events.toReversed()) within(writer, 11, () => writeSpanEvent(writer, event))
  writeCount(writer, 10, span.droppedAttributesCount)
  writeAttributes(writer, 9, span.attributes)
  if (span.endTimeUnixNano !== 0n) writer.fixed64(8, span.endTimeUnixNano)
  if (span.startTimeUnixNano !== 0n) writer.fixed64(7, span.startTimeUnixNano)
  writeCount(writer, 6, span.kind)
  if (span.name !== '') writer.text(5, span.name)
  writeId(writer, 4, span.parentSpanId)
  if (span.traceState !== '') writer.text(3, span.traceState)
  writeId(writer, 2, span.spanId)
  writeId(writer, 1, span.traceId)
}

function writeSpanEvent(writer: WireWriter, event: OtlpSpanEvent): void {
  writeCount(writer, 4, event.droppedAttributesCount)
  writeAttributes(writer, 3, event.attributes)
  if (event.name !== '') writer.text(2, event.name)
  if (event.timeUnixNano !== 0n) writer.fixed64(1, event.timeUnixNano)
}

function writeLink(writer: WireWriter, link: OtlpLink): void {
  if (link.flags !== 0) writer.fixed32(6, link.flags)
  writeCount(writer, 5, link.droppedAttributesCount)
  writeAttributes(writer, 4, link.attributes)
  if (link.traceState !== '') writer.text(3, link.traceState)
  writeId(writer, 2, link.spanId)
  writeId(writer, 1, link.traceId)
}

function writeAttributes(writer: WireWriter, field: number, attributes: OtlpAttributes): void {
  for (const [key, value] of Object.entries(attributes).toReversed())
    within(writer, field, () => {
      within(writer, 2, () => writeValue(writer, value))
      writer.text(1, key)
    })
}

function writeValue(writer: WireWriter, value: OtlpValue): void {
  if (value === null) return
  if (typeof value === 'string') writer.text(1, value)
  else if (typeof value === 'boolean') writer.varint(2, value ? 1 : 0)
  else if (typeof value === 'bigint') writer.varint(3, value)
  else if (typeof value === 'number') {
    if (isInt(value)) writer.varint(3, value)
    else writer.double(4, value)
  } else if (value instanceof Uint8Array) writer.bytes(7, value)
  else if (isList(value))
    within(writer, 5, () => {
      for (const item of value.toReversed()) within(writer, 1, () => writeValue(writer, item))
    })
  else within(writer, 6, () => writeAttributes(writer, 1, value))
}

/** Attributes do not distinguish whole doubles from integers; exact integers are sent as such. */
export const isInt = (value: number): boolean => Number.isSafeInteger(value) && !Object.is(value, -0)

export const isList = (value: OtlpValue): value is readonly OtlpValue[] => Array.isArray(value)
