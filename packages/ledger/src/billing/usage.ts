import { isObject, type JsonObject } from '../json.ts'

/** Tokens of one model call. `inputTokens` are all input tokens: those read from and written to a cache included. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
}

type Names = readonly (readonly string[])[]

/** Field names that models and frameworks use for each number; the first one present wins. */
const INPUT: Names = [
  ['inputTokens'],
  ['input_tokens'],
  ['prompt_tokens'],
  ['promptTokens'],
  ['promptTokenCount'],
  ['prompt_token_count'],
  ['prompt_eval_count'],
]
const OUTPUT: Names = [
  ['outputTokens'],
  ['output_tokens'],
  ['completion_tokens'],
  ['completionTokens'],
  ['candidatesTokenCount'],
  ['candidates_token_count'],
  ['eval_count'],
]
const CACHE_READ: Names = [
  ['cacheReadTokens'],
  ['cachedInputTokens'],
  ['cache_read_tokens'],
  ['prompt_tokens_details', 'cached_tokens'],
  ['input_tokens_details', 'cached_tokens'],
  ['inputTokenDetails', 'cacheReadTokens'],
  ['input_token_details', 'cache_read'],
  ['cachedContentTokenCount'],
  ['cached_content_token_count'],
  ['prompt_cache_hit_tokens'],
  ['cache_read_input_tokens'],
  ['cacheReadInputTokens'],
]
const CACHE_WRITE: Names = [
  ['cacheWriteTokens'],
  ['cache_write_tokens'],
  ['inputTokenDetails', 'cacheWriteTokens'],
  ['input_token_details', 'cache_creation'],
  ['cache_creation_input_tokens'],
  ['cacheWriteInputTokens'],
]
const REASONING: Names = [
  ['reasoningTokens'],
  ['reasoning_tokens'],
  ['completion_tokens_details', 'reasoning_tokens'],
  ['output_tokens_details', 'reasoning_tokens'],
  ['outputTokenDetails', 'reasoningTokens'],
  ['output_token_details', 'reasoning'],
]
/** Thinking that its maker counts beside the output and bills with it. */
const THOUGHTS: Names = [['thoughtsTokenCount'], ['thoughts_token_count']]

/** These names are only used where the input is counted without what came from or went to the cache. */
const EXCLUSIVE = [
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cacheReadInputTokens',
  'cacheWriteInputTokens',
]

/**
 * The tokens in a `usage` of any common spelling, with the input made inclusive; null if it has none.
 *
 * The input is taken to exclude the cache if the usage says so (`cacheTokens: 'exclusive'`), if it uses names that
 * imply it, and if it is smaller than its own cached part, which nothing else can explain.
 */
export function normaliseUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null
  const input = find(raw, INPUT)
  const output = find(raw, OUTPUT)
  const read = find(raw, CACHE_READ)
  const written = find(raw, CACHE_WRITE)
  const thoughts = find(raw, THOUGHTS)
  const reasoning = find(raw, REASONING) ?? thoughts
  if ([input, output, read, written, reasoning].every((count) => count === undefined)) return null
  const cached = (read ?? 0) + (written ?? 0)
  const own = raw['outputTokens'] !== undefined
  return {
    inputTokens: (input ?? 0) + (isExclusive(raw, input ?? 0, cached) ? cached : 0),
    outputTokens: (output ?? 0) + (own ? 0 : (thoughts ?? 0)),
    cacheReadTokens: read ?? 0,
    cacheWriteTokens: written ?? 0,
    reasoningTokens: reasoning ?? 0,
  }
}

function isExclusive(raw: Record<string, unknown>, input: number, cached: number): boolean {
  const said = raw['cacheTokens']
  if (said === 'inclusive') return false
  if (said === 'exclusive' || cached > input) return true
  return count(raw['inputTokens']) === undefined && EXCLUSIVE.some((name) => count(raw[name]) !== undefined)
}

/**
 * The usage as it is stored: as it came, with Clew's own names beside foreign ones and the word `inclusive` where
 * something was added, so that readers do not add it again. Returns the same object if nothing changes.
 */
export function storedUsage(raw: JsonObject, usage: Usage): JsonObject {
  const next: JsonObject = { ...raw }
  let changed = false
  for (const name of Object.keys(usage) as (keyof Usage)[]) {
    if (raw[name] === usage[name] || (raw[name] === undefined && usage[name] === 0)) continue
    next[name] = usage[name]
    changed = true
  }
  if (!changed && raw['cacheTokens'] !== 'exclusive') return raw
  next['cacheTokens'] = 'inclusive'
  return next
}

function find(raw: Record<string, unknown>, names: Names): number | undefined {
  for (const path of names) {
    let value: unknown = raw
    for (const name of path) value = isObject(value) ? value[name] : undefined
    const found = count(value)
    if (found !== undefined) return found
  }
  return undefined
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined
