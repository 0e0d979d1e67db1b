import { ClewError } from '@clew/ledger'
import { readLogsJson, readTracesJson } from './decode-json.ts'
import { decodeLogsProtobuf, decodeTracesProtobuf } from './decode-protobuf.ts'
import type { OtlpLogs, OtlpTraces } from './structure.ts'

/** The body of an export: protobuf or JSON as bytes, JSON as text, or JSON that was parsed. */
export type OtlpBody = Uint8Array | string | object

/** Which of the two the bytes are. Left out, bytes that begin with `{` are JSON, which no protobuf does. */
export type OtlpFormat = 'protobuf' | 'json'

export const decodeOtlpTraces = (body: OtlpBody, format?: OtlpFormat): OtlpTraces =>
  isProtobuf(body, format) ? decodeTracesProtobuf(body) : readTracesJson(parse(body))

export const decodeOtlpLogs = (body: OtlpBody, format?: OtlpFormat): OtlpLogs =>
  isProtobuf(body, format) ? decodeLogsProtobuf(body) : readLogsJson(parse(body))

const BRACE = 0x7b

function isProtobuf(body: OtlpBody, format: OtlpFormat | undefined): body is Uint8Array {
  if (!(body instanceof Uint8Array)) return false
  return format === undefined ? body[0] !== BRACE : format === 'protobuf'
}

function parse(body: OtlpBody): unknown {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return body
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  try {
    return JSON.parse(text)
  } catch (error) {
    // The engine's own words may quote the body, which may hold secrets (P3).
    const at = error instanceof SyntaxError ? /position (\d+)/.exec(error.message)?.[1] : undefined
    throw new ClewError(
      'broken_import',
      `The OTLP body of ${text.length} characters is no JSON${at === undefined ? '' : `: it breaks at character ${at}`}`,
      'Send a whole JSON document, or name the encoding if it is protobuf; nothing of this body was taken.',
      at === undefined ? { size: text.length } : { size: text.length, offset: Number(at) },
    )
  }
}
