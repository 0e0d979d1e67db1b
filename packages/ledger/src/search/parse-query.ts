import { ClewError } from '../errors.ts'
import { RUN_STATUSES, type RunStatus } from '../fold/run-summary.ts'
import type { CostFilter, Phrase, SearchQuery, ValueFilter } from './search-index.ts'
import { MAX_TOKEN_CHARS, tokenize } from './tokens.ts'

const FIELDS = ['status', 'agent', 'tool', 'type', 'run', 'thread', 'since', 'cost'] as const
type Field = (typeof FIELDS)[number]

interface Item {
  /** Place in the query, from 0. */
  readonly at: number
  readonly negated: boolean
  readonly field: Field | null
  readonly value: string
  readonly quoted: boolean
}

type MutableQuery = {
  -readonly [K in keyof SearchQuery]: SearchQuery[K] extends readonly (infer T)[] ? T[] : SearchQuery[K]
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3, w: 604_800e3 }
const MAX_ITEMS = 64

/**
 * Reads a query: words, `"exact words"`, `begin*`, `-not this`, and filters such as `status:failed` or `cost:>0.05`.
 * All of it must hold. What cannot be read is refused with its place (from 1).
 */
export function parseQuery(text: string, now: number): SearchQuery {
  const query: MutableQuery = {
    all: [],
    none: [],
    type: [],
    tool: [],
    run: [],
    agent: [],
    thread: [],
    status: [],
    cost: [],
    since: null,
  }
  const items = splitItems(text)
  if (items.length === 0)
    throw badQuery('is empty', 0, 'Write a word, "some words" or a filter such as status:failed')
  if (items.length > MAX_ITEMS)
    throw badQuery(`has more than ${MAX_ITEMS} parts`, items[MAX_ITEMS]?.at ?? 0, 'Ask for less at once')
  for (const item of items) take(query, item, now)
  return query
}

/** Syntax error of a query, with its position. */
function badQuery(what: string, at: number, hint: string): ClewError {
  return new ClewError('bad_option', `The query ${what} (at character ${at + 1})`, `${hint}.`, {
    option: 'query',
    at: at + 1,
  })
}

function splitItems(text: string): Item[] {
  const items: Item[] = []
  for (let at = 0; at < text.length; ) {
    if (/\s/.test(text[at] as string)) {
      at++
      continue
    }
    const start = at
    const negated = text[at] === '-'
    if (negated) at++
    const name = /^([A-Za-z]+):(?!\/\/)/.exec(text.slice(at, at + 40))?.[1]
    const field = name === undefined ? null : fieldOf(name, at)
    if (name !== undefined) at += name.length + 1
    const quoted = text[at] === '"'
    const end = quoted ? text.indexOf('"', at + 1) : endOfWord(text, at)
    if (end < 0) throw badQuery('has a quotation mark that is never closed', at, 'Close it with "')
    const star = quoted && text[end + 1] === '*'
    const value = quoted ? text.slice(at + 1, end) + (star ? '*' : '') : text.slice(at, end)
    items.push({ at: start, negated, field, value, quoted })
    at = quoted ? end + 1 + (star ? 1 : 0) : end
  }
  return items
}

function endOfWord(text: string, at: number): number {
  let end = at
  while (end < text.length && !/[\s"]/.test(text[end] as string)) end++
  return end
}

function fieldOf(name: string, at: number): Field {
  const found = FIELDS.find((field) => field === name.toLowerCase())
  if (found) return found
  throw badQuery(
    `filters by ${name}:, which there is not`,
    at,
    `Filters are ${FIELDS.map((field) => `${field}:`).join(' ')}; put text with a colon between quotation marks`,
  )
}

function take(query: MutableQuery, item: Item, now: number): void {
  const { field, value, at, negated } = item
  if (field === null) {
    ;(negated ? query.none : query.all).push(toPhrase(item))
    return
  }
  if (value === '' || value === '*')
    throw badQuery(
      `has ${field}: without a value`,
      at,
      `Write one behind it, without a space: ${EXAMPLES[field]}`,
    )
  switch (field) {
    case 'status':
      query.status.push({ values: value.split(',').map((word) => toStatus(word, at)), negated })
      break
    case 'since':
      if (negated) throw badQuery('negates since:', at, 'Leave the - out')
      query.since = latest(query.since, toTime(value, at, now))
      break
    case 'cost':
      query.cost.push(toCost(item))
      break
    default:
      query[field].push(toValues(item))
  }
}

const EXAMPLES: Readonly<Record<Field, string>> = {
  status: 'status:failed',
  agent: 'agent:research',
  tool: 'tool:search',
  type: 'type:tool_call',
  run: 'run:demo*',
  thread: 'thread:t1',
  since: 'since:1h',
  cost: 'cost:>0.05',
}

function toPhrase({ value, at }: Item): Phrase {
  const prefix = value.endsWith('*')
  const tokens = tokenize(prefix ? value.slice(0, -1) : value).map((token) => token.text)
  if (tokens.length > 0) return { tokens, prefix }
  const long = /[\p{L}\p{N}]{65,}/u.test(value)
  throw long
    ? badQuery(
        `has a word of more than ${MAX_TOKEN_CHARS} characters`,
        at,
        'Such words are not in the index; search for something beside it',
      )
    : badQuery('has a part without a letter or digit', at, 'Only words and numbers are searched')
}

function toValues({ value, quoted, negated }: Item): ValueFilter {
  const texts = quoted ? [value] : value.split(',').filter((text) => text !== '')
  const values = texts.map((text) =>
    text.endsWith('*') ? { text: text.slice(0, -1), prefix: true } : { text, prefix: false },
  )
  return { values, negated }
}

function toStatus(word: string, at: number): RunStatus {
  const found = RUN_STATUSES.find((status) => status === word.toLowerCase())
  if (found) return found
  throw badQuery('asks for a status that there is not', at, `Statuses are ${RUN_STATUSES.join(', ')}`)
}

function toCost({ value, at, negated }: Item): CostFilter {
  const [, op = '=', amount] = /^(<=|>=|<|>|=)?(\d+(?:\.\d+)?)$/.exec(value) ?? []
  if (amount === undefined)
    throw badQuery(
      'has a cost that is not an amount',
      at,
      'Write cost:>0.05, with < <= = >= or > before the amount',
    )
  return { op: op as CostFilter['op'], amount: Number(amount), negated }
}

function toTime(value: string, at: number, now: number): string {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(value) ?? []
  const ms =
    count !== undefined && unit !== undefined
      ? now - Number(count) * (UNIT_MS[unit] ?? 0)
      : /^\d{4}-\d\d-\d\d/.test(value)
        ? Date.parse(value)
        : Number.NaN
  if (!Number.isNaN(ms)) return new Date(ms).toISOString()
  throw badQuery(
    'has a time that cannot be read',
    at,
    'Write how long ago (since:90s, 15m, 1h, 7d, 2w) or a date such as since:2026-11-15',
  )
}

const latest = (a: string | null, b: string): string => (a !== null && a > b ? a : b)
