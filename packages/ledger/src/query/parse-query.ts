import { ClewError } from '../errors.ts'
import { RUN_STATUSES, type RunStatus } from '../fold/run-summary.ts'
import { nearMisses } from '../near-miss.ts'
import type {
  NumberFilter,
  Phrase,
  RunSort,
  SearchQuery,
  TagFilter,
  ValueFilter,
} from '../search/search-index.ts'
import { MAX_TOKEN_CHARS, tokenize } from '../search/tokens.ts'
import { QUERY_FIELD_NAMES, QUERY_FIELDS, type QueryFieldName } from './query-fields.ts'
import { type QueryItem, splitQuery } from './split-query.ts'

type MutableQuery = {
  -readonly [K in keyof SearchQuery]: SearchQuery[K] extends readonly (infer T)[] ? T[] : SearchQuery[K]
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1e3,
  m: 60e3,
  h: 3600e3,
  d: 86_400e3,
  w: 604_800e3,
}
const FACTORS: Readonly<Record<string, number>> = { k: 1e3, m: 1e6 }
const MAX_ITEMS = 64

export const RUN_SORTS = [
  'started',
  'updated',
  'ended',
  'duration',
  'tokens',
  'cost',
  'events',
  'steps',
] as const

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
    tag: [],
    model: [],
    error: [],
    tokens: [],
    duration: [],
    steps: [],
    sort: null,
  }
  const items = splitQuery(text)
  if (items.length === 0)
    throw badQuery('is empty', 0, 'Write a word, "some words" or a filter such as status:failed')
  if (items.length > MAX_ITEMS)
    throw badQuery(`has more than ${MAX_ITEMS} parts`, items[MAX_ITEMS]?.at ?? 0, 'Ask for less at once')
  for (const item of items) take(query, item, now)
  return query
}

/** Syntax error of a query, with its position. */
export function badQuery(what: string, at: number, hint: string): ClewError {
  return new ClewError('bad_option', `The query ${what} (at character ${at + 1})`, `${hint}.`, {
    option: 'query',
    at: at + 1,
  })
}

function take(query: MutableQuery, item: QueryItem, now: number): void {
  const { value, at, negated } = item
  if (!item.isClosed)
    throw badQuery('has a quotation mark that is never closed', placeOfValue(item), 'Close it with "')
  if (item.field === null) {
    ;(negated ? query.none : query.all).push(toPhrase(item))
    return
  }
  const field = fieldOf(item.field, placeOfField(item))
  if (value === '' || value === '*')
    throw badQuery(
      `has ${item.field}: without a value`,
      at,
      `Write one after it, without a space: ${field === null ? `${item.field}:acme` : QUERY_FIELDS[field].example}`,
    )
  switch (field) {
    case null:
      query.tag.push(toTag(item.field, item))
      break
    case 'tag': {
      const [, name = value, wanted] = /^([^=]+)=(.*)$/s.exec(value) ?? []
      query.tag.push(
        wanted === undefined
          ? { name, values: null, number: null, negated }
          : toTag(name, { ...item, value: wanted }),
      )
      break
    }
    case 'status':
      query.status.push({ values: value.split(',').map((word) => toStatus(word, at)), negated })
      break
    case 'since':
      if (negated) throw badQuery('negates since:', at, 'Leave the - out')
      query.since = latest(query.since, toTime(value, at, now))
      break
    case 'cost':
      query.cost.push(toNumber(item, 'a cost that is not an amount', QUERY_FIELDS.cost.example, {}))
      break
    case 'tokens':
    case 'steps':
      query[field].push(toNumber(item, `${field}: without a number`, QUERY_FIELDS[field].example, FACTORS))
      break
    case 'duration':
      query.duration.push(toNumber(item, 'a duration that cannot be read', 'duration:>30s', UNIT_MS))
      break
    case 'error':
      query.error.push({ text: value.toLowerCase(), negated })
      break
    case 'sort':
      if (query.sort) throw badQuery('has two orders', at, 'Leave one sort: out')
      query.sort = toSort(item)
      break
    default:
      query[field].push(toValues(item))
  }
}

const placeOfField = ({ at, negated }: QueryItem): number => at + (negated ? 1 : 0)
const placeOfValue = (item: QueryItem): number =>
  placeOfField(item) + (item.field === null ? 0 : item.field.length + 1)

/** The field of this name; null if it is that of a tag. */
function fieldOf(name: string, at: number): QueryFieldName | null {
  const lower = name.toLowerCase()
  const found = QUERY_FIELD_NAMES.find((field) => field === lower)
  if (found) return found
  // A name that is nearly that of a field is a slip: as a tag it would find nothing and say nothing.
  const near = nearMisses(lower, QUERY_FIELD_NAMES).find(
    (field) => Math.abs(field.length - lower.length) <= 1,
  )
  if (near === undefined) return null
  throw badQuery(
    `filters by ${name}:, which there is not`,
    at,
    `Did you mean ${near}:? A tag of that name is written tag:${name}=value`,
  )
}

function toSort({ value, at, negated }: QueryItem): RunSort {
  const [, minus = '', name = ''] = /^(-?)(.*)$/s.exec(value) ?? []
  const by = RUN_SORTS.find((each) => each === name.toLowerCase())
  if (by !== undefined && !negated) return { by, descending: minus !== '' }
  const [near] = nearMisses(name, RUN_SORTS, 1)
  throw badQuery(
    'has an order that there is not',
    at,
    `${near === undefined ? '' : `Did you mean sort:${minus}${near}? `}Sort by ${RUN_SORTS.join(', ')}; -tokens puts the most first`,
  )
}

function toTag(name: string, item: QueryItem): TagFilter {
  const { value, quoted, negated } = item
  const compared = !quoted && /^[<>]/.test(value)
  if (compared) {
    const number = toNumber(item, 'a comparison without a number', `${name}:>10`, FACTORS)
    return { name, values: null, number: { op: number.op, amount: number.amount }, negated }
  }
  return { name, values: toValues(item).values, number: null, negated }
}

function toPhrase({ value, at }: QueryItem): Phrase {
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

function toValues({ value, quoted, negated }: QueryItem): ValueFilter {
  const texts = quoted ? [value] : value.split(',').filter((text) => text !== '')
  const values = texts.map((text) =>
    text.endsWith('*') ? { text: text.slice(0, -1), prefix: true } : { text, prefix: false },
  )
  return { values, negated }
}

function toStatus(word: string, at: number): RunStatus {
  const found = RUN_STATUSES.find((status) => status === word.toLowerCase())
  if (found) return found
  const [near] = nearMisses(word, RUN_STATUSES, 1)
  throw badQuery(
    'asks for a status that there is not',
    at,
    `${near === undefined ? '' : `Did you mean ${near}? `}Statuses are ${RUN_STATUSES.join(', ')}`,
  )
}

/** A number after an operator, times the factor of its unit. */
function toNumber(
  { value, at, negated }: QueryItem,
  what: string,
  example: string,
  units: Readonly<Record<string, number>>,
): NumberFilter {
  const [, op = '=', amount, unit = ''] = /^(<=|>=|<|>|=)?(\d+(?:\.\d+)?)([a-z]*)$/i.exec(value) ?? []
  const factor = unit === '' ? 1 : units[unit.toLowerCase()]
  if (amount === undefined || factor === undefined || (unit === '' && units === UNIT_MS))
    throw badQuery(
      `has ${what}`,
      at,
      `Write ${example}, with < <= = >= or > before the number${units === UNIT_MS ? ' and ms, s, m, h or d after it' : ''}`,
    )
  return { op: op as NumberFilter['op'], amount: Number(amount) * factor, negated }
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
