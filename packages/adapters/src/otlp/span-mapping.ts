import type { JsonObject } from '@clew/ledger'
import { type SpanAttributes, toJson } from './span-attributes.ts'
import type { RunSink } from './sink.ts'
import type { OtlpLogRecord, OtlpSpan } from './structure.ts'

/** A span while it becomes a step. */
export interface SpanMapping {
  readonly sink: RunSink
  readonly span: OtlpSpan
  readonly facts: SpanAttributes
  readonly stepId: string
  readonly name: string
  readonly start: bigint
  readonly end: bigint
  readonly failure: JsonObject | undefined
}

/** A log record while it becomes events. */
export interface RecordWork {
  readonly sink: RunSink
  readonly record: OtlpLogRecord
  readonly facts: SpanAttributes
  readonly name: string
  readonly time: bigint
  /** Digest over all fields, which distinguishes the span from every other. */
  readonly digest: string
  readonly identity: JsonObject
  readonly sourceId: string
}

/** Record of a log next to the event made of it. */
export function toRecordJson(record: OtlpLogRecord, facts: SpanAttributes, source: string): JsonObject {
  const attributes = facts.rest()
  return {
    ...(record.severityNumber !== 0 && { severityNumber: record.severityNumber }),
    ...(record.severityText !== '' && { severityText: record.severityText }),
    ...(record.body !== null && { body: toJson(record.body) }),
    ...(Object.keys(attributes).length > 0 && { attributes }),
    ...(record.timeUnixNano !== 0n && { timeUnixNano: String(record.timeUnixNano) }),
    ...(record.flags !== 0 && { flags: record.flags }),
    ...(record.droppedAttributesCount !== 0 && { droppedAttributesCount: record.droppedAttributesCount }),
    source,
  }
}
