import { ClewError } from '../errors.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import type { RunQuery, Store, StoredRun } from '../store/store.ts'
import type { RunSort, SearchQuery, ValueFilter } from '../search/search-index.ts'
import { fitsRunConditions, type RunConditions } from './fits-run.ts'
import { badQuery, parseQuery } from './parse-query.ts'
import { splitQuery } from './split-query.ts'

/** Rows that one page reads before it is returned as it is, with a cursor; and the most that are read to be sorted. */
const MAX_READ = 10_000
const MAX_SORTED = 50_000
const ROWS = 500

interface Page {
  readonly runs: readonly StoredRun[]
  readonly next: string | null
}

export interface ListByQuery {
  readonly store: Pick<Store, 'findRuns'>
  /** Conditions beside the query, with the page's limit and cursor. */
  readonly within: RunQuery & { readonly limit: number }
  readonly namesOf: (thread: string) => readonly string[]
  readonly now: number
}

/**
 * A page of the runs that fit a query. What stores have an index for narrows their reading; the rest is tested on the
 * summaries, so a page may be shorter than its limit although more follows.
 */
export async function listByQuery(text: string, parts: ListByQuery): Promise<Page> {
  const query = parseRunQuery(text, parts.now)
  const { narrowed, rest } = narrow(query, parts)
  const fits = ({ summary }: StoredRun): boolean => fitsRunConditions(summary, rest)
  return query.sort
    ? sortRuns(parts.store, narrowed, fits, query.sort)
    : filterRuns(parts.store, narrowed, fits)
}

/** A query without words, and without fields that are about single events. */
function parseRunQuery(text: string, now: number): SearchQuery {
  const query = parseQuery(text, now)
  const aboutEvents = splitQuery(text).find(({ field }) => field === null || /^(tool|type)$/i.test(field))
  if (!aboutEvents) return query
  throw badQuery(
    `asks for ${aboutEvents.field === null ? 'words' : `${aboutEvents.field}:`}, which only a search finds`,
    aboutEvents.at,
    'Search for words with clew search, ledger.search or /v1/search; a value with blanks stands in quotation marks, also in the shell: \'error:"rate limit"\'',
  )
}

/** Moves into the store's query what it can find by its indexes; the rest stays to be tested. */
function narrow(
  query: SearchQuery,
  { within, namesOf }: ListByQuery,
): { readonly narrowed: RunQuery & { readonly limit: number }; readonly rest: RunConditions } {
  const wholes = (filters: readonly ValueFilter[]): ValueFilter | undefined =>
    filters.find(({ values, negated }) => !negated && values.every(({ prefix }) => !prefix))
  const status = query.status.find(({ values, negated }) => !negated && values.length === 1)?.values[0]
  const agents = wholes(query.agent)?.values
  const thread = within.threadIds ? undefined : wholes(query.thread)
  const run = wholes(query.run)
  const tags = query.tag.filter(({ negated }) => !negated)
  const only = ({ values }: (typeof tags)[number]): string | undefined =>
    values?.length === 1 && values[0]?.prefix === false ? values[0].text : undefined
  const exact = tags.flatMap((tag) => {
    const value = only(tag)
    return value === undefined ? [] : [[tag.name, value] as const]
  })
  const narrowed = {
    ...within,
    status: within.status ?? status,
    deleted: query.status.some(({ values, negated }) => !negated && values.includes('deleted')) || undefined,
    agent: within.agent ?? (agents?.length === 1 ? agents[0]?.text : undefined),
    threadIds: within.threadIds ?? thread?.values.flatMap(({ text }) => namesOf(text)),
    ids: run?.values.map(({ text }) => text),
    since: [within.since, query.since]
      .filter((each) => each != null)
      .toSorted()
      .at(-1),
    tags: { ...Object.fromEntries(exact), ...within.tags },
    hasTags: [...(within.hasTags ?? []), ...tags.flatMap((tag) => (only(tag) === undefined ? tag.name : []))],
  }
  // A thread with a secret in its name is stored under another one, which only the store's query knows.
  return { narrowed, rest: { ...query, thread: query.thread.filter((each) => each !== thread) } }
}

async function filterRuns(
  store: Pick<Store, 'findRuns'>,
  query: RunQuery & { readonly limit: number },
  fits: (run: StoredRun) => boolean,
): Promise<Page> {
  const { limit } = query
  const found: StoredRun[] = []
  let { cursor } = query
  for (let read = 0; read < MAX_READ; ) {
    // Often the store's indexes alone find the page.
    const page = await store.findRuns({ ...query, cursor, limit: read === 0 ? limit : Math.max(limit, ROWS) })
    const last = place(page.runs, fits, limit - found.length)
    if (last !== undefined) {
      // Read again up to the last run that is shown: only the end of a page has a cursor.
      const shown =
        last + 1 === page.runs.length ? page : await store.findRuns({ ...query, cursor, limit: last + 1 })
      return { runs: [...found, ...shown.runs.filter(fits)], next: shown.next }
    }
    found.push(...page.runs.filter(fits))
    if (page.next === null) return { runs: found, next: null }
    cursor = page.next
    read += page.runs.length
  }
  return { runs: found, next: cursor ?? null }
}

/** Index of the run with which `wanted` of them fit. */
function place(
  runs: readonly StoredRun[],
  fits: (run: StoredRun) => boolean,
  wanted: number,
): number | undefined {
  let count = 0
  const at = runs.findIndex((run) => fits(run) && ++count === wanted)
  return at < 0 ? undefined : at
}

type Key = readonly [value: number | null, runId: string]

async function sortRuns(
  store: Pick<Store, 'findRuns'>,
  { cursor: after, limit, ...query }: RunQuery & { readonly limit: number },
  fits: (run: StoredRun) => boolean,
  { by, descending }: RunSort,
): Promise<Page> {
  const keyOf = ({ summary }: StoredRun): Key => [VALUES[by](summary), summary.runId]
  const compare = (a: Key, b: Key): number => compareKeys(a, b, descending)
  const border = after === undefined ? undefined : parseSortCursor(after)
  let best: StoredRun[] = []
  const cut = (): void => {
    best = best.toSorted((a, b) => compare(keyOf(a), keyOf(b))).slice(0, limit + 1)
  }
  let read = 0
  for (let cursor: string | undefined; ; ) {
    const page = await store.findRuns({ ...query, cursor, limit: ROWS })
    best.push(...page.runs.filter((run) => fits(run) && (!border || compare(keyOf(run), border) > 0)))
    if (best.length > 2 * limit + ROWS) cut()
    if (page.next === null) break
    read += page.runs.length
    if (read >= MAX_SORTED) throw tooManyToSort()
    cursor = page.next
  }
  cut()
  const runs = best.slice(0, limit)
  const last = runs.at(-1)
  return { runs, next: last && best.length > limit ? encodeURIComponent(JSON.stringify(keyOf(last))) : null }
}

const VALUES: Readonly<Record<RunSort['by'], (run: RunSummary) => number | null>> = {
  started: (run) => Date.parse(run.startedAt),
  updated: (run) => Date.parse(run.updatedAt),
  ended: (run) => (run.endedAt === null ? null : Date.parse(run.endedAt)),
  duration: (run) => run.durationMs,
  tokens: (run) => run.inputTokens + run.outputTokens,
  cost: (run) => run.cost,
  events: (run) => run.events,
  steps: (run) => run.steps,
}

/** Unknown values come last in either direction; equals are in the order of their ids. */
function compareKeys([a, idA]: Key, [b, idB]: Key, descending: boolean): number {
  if (a === null || b === null) {
    if (a !== b) return a === null ? 1 : -1
  } else if (a !== b) return descending ? b - a : a - b
  return idA < idB ? -1 : idA > idB ? 1 : 0
}

function parseSortCursor(cursor: string): Key {
  try {
    const [value, runId, ...more] = JSON.parse(decodeURIComponent(cursor)) as unknown[]
    if ((value === null || typeof value === 'number') && typeof runId === 'string' && more.length === 0)
      return [value, runId]
  } catch {
    // Not made by `sortRuns`: refused below like any other text.
  }
  throw new ClewError(
    'bad_option',
    'The cursor is not one that this sorted listing gave',
    'Use nextCursor of the page before, with the same query, or none.',
    { option: 'cursor' },
  )
}

const tooManyToSort = (): ClewError =>
  new ClewError(
    'too_large',
    `More than ${MAX_SORTED} runs would have to be read to sort them`,
    'Narrow the query, for example by since:7d, agent: or a tag.',
    { option: 'query', max: MAX_SORTED },
  )
