import { fitsRecorded, inputDigest, type JsonValue, type Redactor } from '@clew/ledger'
import { sha256 } from '../machine/run-appender.ts'
import type { TapedRequest, TapeRules } from './tape-options.ts'

const PLACEHOLDER = /\[redacted:([a-z0-9-]+):[^\]\s]*\]/g

/**
 * Digest by which requests are compared: without volatile parts, and with secrets replaced by their kind, so that a
 * request with a new key is the same request (D2).
 */
export function requestDigest(request: TapedRequest, rules: TapeRules, redactor: Redactor): string {
  const { value } = redactor.value(comparedParts(request, rules))
  return inputDigest(sha256, byKind(value))
}

/** D2: whether a recorded request is this one, whatever was taken out of it then and would be taken out now. */
export function isSameRequest(
  recorded: unknown,
  request: TapedRequest,
  rules: TapeRules,
  redactor: Redactor,
): boolean {
  const was = comparedParts(recorded as TapedRequest, rules)
  const now = comparedParts(request, rules)
  return fitsRecorded(was, now) || fitsRecorded(redactor.value(was).value, redactor.value(now).value)
}

function comparedParts(request: TapedRequest, { isVolatile }: TapeRules): JsonValue {
  const { method, url, query, headers, body, form, base64 } = request
  return {
    method,
    url,
    query: (query ?? []).filter(([name]) => !isVolatile.query(name)),
    headers: Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !isVolatile.header(name))),
    body: body === undefined ? null : lasting(body, [], isVolatile.body),
    form: (form ?? []).filter(([name]) => !isVolatile.body([name])),
    base64: base64 ?? null,
  } as unknown as JsonValue
}

type IsVolatile = TapeRules['isVolatile']['body']

function lasting(value: JsonValue, path: readonly (string | number)[], isVolatile: IsVolatile): JsonValue {
  if (isVolatile(path)) return null
  if (Array.isArray(value)) return value.map((item, index) => lasting(item, [...path, index], isVolatile))
  if (typeof value !== 'object' || value === null) return value
  return mapped(value, (item, key) =>
    isVolatile([...path, key]) ? undefined : lasting(item, [...path, key], isVolatile),
  )
}

function byKind(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replace(PLACEHOLDER, '[redacted:$1]')
  if (Array.isArray(value)) return value.map(byKind)
  return typeof value === 'object' && value !== null ? mapped(value, byKind) : value
}

/** Entries, so that a key like `__proto__` stays a key. */
const mapped = (
  value: Readonly<Record<string, JsonValue>>,
  change: (item: JsonValue, key: string) => JsonValue | undefined,
): JsonValue =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const next = change(item, key)
      return next === undefined ? [] : [[key.replace(PLACEHOLDER, '[redacted:$1]'), next]]
    }),
  )
