export { encodeOtlpAnswer, encodeOtlpStatus, type OtlpOutcome, type OtlpSignal } from './answer.ts'
export { decodeOtlpLogs, decodeOtlpTraces, type OtlpBody, type OtlpFormat } from './decode.ts'
export { encodeTracesJson } from './encode-json.ts'
export { encodeTracesProtobuf } from './encode-protobuf.ts'
export { exportToOtlp, type ExportToOtlpOptions } from './export-to-otlp.ts'
export {
  fromOtlpLogs,
  type FromOtlpOptions,
  type FromOtlpResult,
  fromOtlpTraces,
  type OtlpProblem,
} from './from-otlp.ts'
export type {
  OtlpAttributes,
  OtlpLink,
  OtlpLogRecord,
  OtlpLogs,
  OtlpResource,
  OtlpResourceLogs,
  OtlpResourceSpans,
  OtlpScope,
  OtlpScopeLogs,
  OtlpScopeSpans,
  OtlpSpan,
  OtlpSpanEvent,
  OtlpStatus,
  OtlpTraces,
  OtlpValue,
} from './structure.ts'
