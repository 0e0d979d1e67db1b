/** OTLP traces, independent of the encoding. Ids are lower-case hex, empty if there was none. */
export interface OtlpTraces {
  readonly resourceSpans: readonly OtlpResourceSpans[]
}

export interface OtlpLogs {
  readonly resourceLogs: readonly OtlpResourceLogs[]
}

export interface OtlpResourceSpans {
  readonly resource: OtlpResource
  readonly scopeSpans: readonly OtlpScopeSpans[]
  readonly schemaUrl: string
}

export interface OtlpResourceLogs {
  readonly resource: OtlpResource
  readonly scopeLogs: readonly OtlpScopeLogs[]
  readonly schemaUrl: string
}

export interface OtlpScopeSpans {
  readonly scope: OtlpScope
  readonly spans: readonly OtlpSpan[]
  readonly schemaUrl: string
}

export interface OtlpScopeLogs {
  readonly scope: OtlpScope
  readonly logRecords: readonly OtlpLogRecord[]
  readonly schemaUrl: string
}

export interface OtlpResource {
  readonly attributes: OtlpAttributes
  readonly droppedAttributesCount: number
}

export interface OtlpScope extends OtlpResource {
  readonly name: string
  readonly version: string
}

export interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly traceState: string
  readonly parentSpanId: string
  readonly flags: number
  readonly name: string
  readonly kind: number
  /** Nanoseconds since 1970; 0 where there was none. */
  readonly startTimeUnixNano: bigint
  readonly endTimeUnixNano: bigint
  readonly attributes: OtlpAttributes
  readonly droppedAttributesCount: number
  readonly events: readonly OtlpSpanEvent[]
  readonly droppedEventsCount: number
  readonly links: readonly OtlpLink[]
  readonly droppedLinksCount: number
  readonly status: OtlpStatus
  /** Why it could not be read; it says nothing else then. */
  readonly problem?: string | undefined
}

export interface OtlpSpanEvent {
  readonly timeUnixNano: bigint
  readonly name: string
  readonly attributes: OtlpAttributes
  readonly droppedAttributesCount: number
}

export interface OtlpLink {
  readonly traceId: string
  readonly spanId: string
  readonly traceState: string
  readonly flags: number
  readonly attributes: OtlpAttributes
  readonly droppedAttributesCount: number
}

export interface OtlpStatus {
  readonly code: number
  readonly message: string
}

export interface OtlpLogRecord {
  readonly timeUnixNano: bigint
  readonly observedTimeUnixNano: bigint
  readonly severityNumber: number
  readonly severityText: string
  readonly eventName: string
  readonly body: OtlpValue
  readonly attributes: OtlpAttributes
  readonly droppedAttributesCount: number
  readonly flags: number
  readonly traceId: string
  readonly spanId: string
  readonly problem?: string | undefined
}

/** Whole numbers that a number cannot hold exactly are bigints. */
export type OtlpValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | readonly OtlpValue[]
  | OtlpAttributes

export interface OtlpAttributes {
  readonly [key: string]: OtlpValue
}

export const NO_RESOURCE: OtlpResource = { attributes: {}, droppedAttributesCount: 0 }
export const NO_SCOPE: OtlpScope = { name: '', version: '', ...NO_RESOURCE }
export const NO_STATUS: OtlpStatus = { code: 0, message: '' }

/** A span without any field. */
export const EMPTY_SPAN: OtlpSpan = {
  traceId: '',
  spanId: '',
  traceState: '',
  parentSpanId: '',
  flags: 0,
  name: '',
  kind: 0,
  startTimeUnixNano: 0n,
  endTimeUnixNano: 0n,
  attributes: {},
  droppedAttributesCount: 0,
  events: [],
  droppedEventsCount: 0,
  links: [],
  droppedLinksCount: 0,
  status: NO_STATUS,
}

/** In place of a span or a record that could not be read. */
export const brokenSpan = (problem: string): OtlpSpan => ({ ...EMPTY_SPAN, problem })

export const brokenLogRecord = (problem: string): OtlpLogRecord => ({
  timeUnixNano: 0n,
  observedTimeUnixNano: 0n,
  severityNumber: 0,
  severityText: '',
  eventName: '',
  body: null,
  attributes: {},
  droppedAttributesCount: 0,
  flags: 0,
  traceId: '',
  spanId: '',
  problem,
})

/** Assigns like `target[key] = value`, also for the key `__proto__`. */
export function putAttribute(target: Record<string, OtlpValue>, key: string, value: OtlpValue): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else target[key] = value
}
