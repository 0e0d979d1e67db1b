import type { OtlpFormat } from './decode.ts'
import { createWireWriter } from './wire-writer.ts'

export type OtlpSignal = 'traces' | 'logs'

export interface OtlpOutcome {
  /** Spans or records that were refused. */
  readonly rejected: number
  /** Why, of the first of them. */
  readonly message: string
}

const REJECTED: Readonly<Record<OtlpSignal, string>> = {
  traces: 'rejectedSpans',
  logs: 'rejectedLogRecords',
}

/** The answer to an export: empty when all of it was taken, else a partial success. */
export function encodeOtlpAnswer(
  format: OtlpFormat,
  signal: OtlpSignal,
  { rejected, message }: OtlpOutcome,
): Uint8Array | string {
  if (format === 'json')
    return rejected === 0
      ? '{}'
      : JSON.stringify({ partialSuccess: { [REJECTED[signal]]: String(rejected), errorMessage: message } })
  const writer = createWireWriter()
  if (rejected > 0) {
    writer.text(2, message)
    writer.varint(1, rejected)
    writer.message(1, 0)
  }
  return writer.finish()
}

/** `google.rpc.Status`, which refused exports are answered with. */
export function encodeOtlpStatus(format: OtlpFormat, code: number, message: string): Uint8Array | string {
  if (format === 'json') return JSON.stringify({ code, message })
  const writer = createWireWriter()
  writer.text(2, message)
  writer.varint(1, code)
  return writer.finish()
}
