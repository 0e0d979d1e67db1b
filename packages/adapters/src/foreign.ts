import { ClewError, type JsonObject, type JsonValue } from '@clew/ledger'

/** Reading what others wrote: nothing is believed, and what does not fit is named by its field. */

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Says where and what, never the value itself: it may hold a secret (P3). */
export function refuse(field: string, found: unknown, expected: string, hint?: string): never {
  throw new ClewError(
    'broken_import',
    `The field ${field} is ${describe(found)}; it must be ${expected}`,
    hint ?? 'Correct it and import again; nothing of this record was written.',
    { field, expected },
  )
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (value === '') return 'an empty string'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function textOrNone(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : refuse(field, value, 'text')
}

export const plainText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

// oxlint-disable-next-line no-control-regex -- the ledger refuses such ids, and one of them would cost a whole batch
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/

/** Whether the ledger takes it as the id of a run, or (`most` 200) as the name of a runtime. */
export const isId = (text: string, most = 512): boolean =>
  text !== '' && text.length <= most && !CONTROL.test(text) && text.isWellFormed()

/** Names that folds read in payloads: a foreign field of that name means something else. */
const OURS = new Set([
  'stepId',
  'attempt',
  'usage',
  'clock',
  'model',
  'toolCallId',
  'arguments',
  'result',
  'error',
])

/** Fields of an object that no mapping has used; those whose names have a meaning here go below `foreign`. */
export function rest(source: JsonObject, taken: ReadonlySet<string>): JsonObject {
  const left: JsonObject = {}
  const foreign: JsonObject = {}
  for (const [key, value] of Object.entries(source))
    if (!taken.has(key)) Object.defineProperty(OURS.has(key) ? foreign : left, key, { value, ...PLAIN })
  return Object.keys(foreign).length > 0 ? { ...left, foreign } : left
}

/** A key named `__proto__` is data too. */
const PLAIN = { writable: true, enumerable: true, configurable: true }

const MS = 1e11

/** ISO 8601, or seconds or milliseconds since 1970 as a number; undefined for anything else. */
export function readTime(value: unknown): string | undefined {
  const ms =
    typeof value === 'number'
      ? value * (Math.abs(value) < MS ? 1000 : 1)
      : typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value)
        ? Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(value) || value.length <= 10 ? value : `${value}Z`)
        : Number.NaN
  const date = new Date(ms)
  const year = date.getUTCFullYear()
  return year >= 1970 && year <= 9999 ? date.toISOString() : undefined
}

const OUTSIDE_STRINGS = /("(?:[^"\\]|\\.)*")|\s+/g

/**
 * Arguments of a call travel as JSON text. They are taken apart; where that would lose something (a number too long,
 * a name that stands twice, text that is no JSON) the text is kept as well.
 */
export function readArguments(value: JsonValue | undefined): JsonObject {
  if (typeof value !== 'string') return value === undefined ? {} : { arguments: value }
  let parsed: JsonValue
  try {
    parsed = JSON.parse(value) as JsonValue
  } catch {
    return { arguments: value }
  }
  const same = JSON.stringify(parsed) === value.replace(OUTSIDE_STRINGS, '$1')
  return same ? { arguments: parsed } : { arguments: parsed, argumentsText: value }
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

/** Counts of tokens in the spellings of OpenAI and of AG2, whose input includes what came from the cache. */
export function readUsage(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined
  const prompt = isObject(value['prompt_tokens_details']) ? value['prompt_tokens_details'] : {}
  const completion = isObject(value['completion_tokens_details']) ? value['completion_tokens_details'] : {}
  const found: Readonly<Record<string, number | undefined>> = {
    inputTokens: count(value['prompt_tokens']) ?? count(value['input_tokens']),
    outputTokens: count(value['completion_tokens']) ?? count(value['output_tokens']),
    cacheReadTokens: count(prompt['cached_tokens']) ?? count(value['cache_read_input_tokens']),
    cacheWriteTokens: count(value['cache_creation_input_tokens']),
    reasoningTokens: count(completion['reasoning_tokens']) ?? count(value['thinking_tokens']),
  }
  const usage: JsonObject = {}
  for (const [key, tokens] of Object.entries(found)) if (tokens !== undefined) usage[key] = tokens
  return Object.keys(usage).length > 0 ? usage : undefined
}
