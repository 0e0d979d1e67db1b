import { findRun } from '../store/find-runs.ts'
import { ClewError } from '../errors.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Ports } from '../ports.ts'
import type { Store } from '../store/store.ts'
import { catchUp } from './catch-up.ts'
import { SEARCH_VERSION, searchedText } from './extract.ts'
import { highlight, type Highlight } from './highlight.ts'
import { fitsSummary, hasSummaryConditions } from '../query/fits-run.ts'
import { badQuery, parseQuery } from '../query/parse-query.ts'
import { isAboutEvents, type SearchMatch, type SearchQuery } from './search-index.ts'

export interface SearchOptions {
  /** Maximum number of runs in a page; 20 by default. */
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  /** How long a search waits for the index to take what is new; default 2,000 ms, 0 to search the index as it is. */
  readonly catchUpMs?: number | undefined
}

/** An event that fits, without its payload. */
export interface SearchEvent {
  readonly seq: number
  readonly eventId: string
  readonly eventType: string
  readonly timestamp: string
  /** The words in context; null if the query has none, or if the payload was erased. */
  readonly highlight: Highlight | null
}

export interface SearchHit {
  readonly run: RunSummary
  /** Higher fits better: relevance of the words, then recency. */
  readonly score: number
  /** How many of its events were found so far; the best of them follow. */
  readonly found: number
  readonly events: readonly SearchEvent[]
}

export interface SearchResult {
  readonly hits: readonly SearchHit[]
  readonly nextCursor: string | null
  /** Events of the ledger that the index lacks: if there are any, more may fit. */
  readonly lag: number
}

interface SearchParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly ports: Pick<Ports, 'now' | 'defer' | 'sleep'>
  readonly workspace: string
}

/**
 * Matches are taken newest first in windows of this many events and ranked within a window. So the cost of a page
 * does not grow with the number of events that fit, and pages stay where they are while events arrive.
 */
const WINDOW = 512
/** Windows that one page reads if few of their runs fit; it is then shorter than its limit, and has a cursor. */
const MAX_WINDOWS = 40
const EVENTS_SHOWN = 3
/** An import of some hundred runs is indexed within this time. */
const CATCH_UP_MS = 2000
const DAY_MS = 86_400_000

interface SearchPosition {
  /** Newest position of the window, and how many of its runs were shown. */
  readonly upTo: number
  readonly shown: number
  readonly first: boolean
}

export async function searchRuns(
  parts: SearchParts,
  text: string,
  { limit = 20, cursor, catchUpMs = CATCH_UP_MS }: SearchOptions,
): Promise<SearchResult> {
  const { store, ports, workspace } = parts
  const query = parseQuery(text, ports.now())
  if (query.sort)
    throw badQuery(
      'sorts what a search finds by relevance',
      text.toLowerCase().indexOf('sort:'),
      'Leave sort: out, or list runs without words: clew runs',
    )
  const state = catchUpMs > 0 ? await catchUpIndex(parts, catchUpMs) : await store.search.state()
  const lag = await store.countAfter(state.position)
  let place = cursor === undefined ? { upTo: state.position, shown: 0, first: true } : parsePlace(cursor)
  const hits: SearchHit[] = []
  for (let windows = 1; ; windows++) {
    const matches = await store.search.find({ workspace, query, upTo: place.upTo, limit: WINDOW })
    const groups = await group(parts, query, matches, place)
    const taken = groups.slice(place.shown, place.shown + limit - hits.length)
    for (const each of taken) hits.push(await toHit(parts, query, each))
    const shown = place.shown + taken.length
    const last = matches.at(-1)
    const isLastWindow = matches.length < WINDOW || last === undefined
    if (hits.length >= limit || isLastWindow || windows >= MAX_WINDOWS) {
      if (shown < groups.length) place = { ...place, shown }
      else if (isLastWindow) return { hits, nextCursor: null, lag }
      else place = { upTo: last.position - 1, shown: 0, first: false }
      return { hits, nextCursor: formatPlace(place), lag }
    }
    place = { upTo: last.position - 1, shown: 0, first: false }
  }
}

/** A ledger that may only be read is asked as its index stands. */
async function catchUpIndex(parts: SearchParts, budgetMs: number): Promise<{ position: number }> {
  try {
    return await catchUp(parts, { budgetMs })
  } catch (error) {
    if (!(error instanceof ClewError && error.code === 'store_readonly')) throw error
    const state = await parts.store.search.state()
    return state.version === SEARCH_VERSION ? state : { position: 0 }
  }
}

interface Group {
  readonly runId: string
  readonly score: number
  readonly matches: readonly SearchMatch[]
}

/** Hits grouped by run, best first. A run already shown by an earlier page is omitted. */
async function group(
  { store, ports, workspace }: SearchParts,
  query: SearchQuery,
  matches: readonly SearchMatch[],
  place: SearchPosition,
): Promise<Group[]> {
  const byRun = new Map<string, SearchMatch[]>()
  for (const match of matches) {
    const list = byRun.get(match.runId)
    if (list) list.push(match)
    else byRun.set(match.runId, [match])
  }
  const groups: Group[] = []
  const fitting = hasSummaryConditions(query)
    ? await fittingRuns(store, workspace, query, [...byRun.keys()])
    : byRun
  for (const [runId, own] of byRun) {
    if (!fitting.has(runId)) continue
    if (!place.first) {
      const options = { workspace, query, runId, after: place.upTo, upTo: Number.MAX_SAFE_INTEGER, limit: 1 }
      if ((await store.search.find(options)).length > 0) continue
    }
    const ranked = own.toSorted((a, b) => b.relevance - a.relevance || a.seq - b.seq)
    groups.push({ runId, score: scoreOf(ranked[0] as SearchMatch, ports.now()), matches: ranked })
  }
  // Sorting is stable and the newest came first, so equals stay newest first.
  return groups.sort((a, b) => b.score - a.score)
}

async function fittingRuns(
  store: Store,
  workspace: string,
  query: SearchQuery,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { runs } = await store.findRuns({ workspace, ids, deleted: true })
  return new Set(
    runs.filter(({ summary }) => fitsSummary(summary, query)).map(({ summary }) => summary.runId),
  )
}

/** Relevance counts most; of two that fit alike the younger comes first, and a week makes the difference fade. */
function scoreOf({ relevance, recordedAt }: SearchMatch, now: number): number {
  const days = Math.max(0, (now - Date.parse(recordedAt)) / DAY_MS)
  const recency = 1 / (1 + days / 7)
  return relevance * (1 + recency) + (relevance === 0 ? recency : 0)
}

async function toHit(
  { store, reader, workspace }: SearchParts,
  query: SearchQuery,
  found: Group,
): Promise<SearchHit> {
  const { runId, score, matches } = found
  const run = await findRun(store, { workspace, runId })
  const events: SearchEvent[] = []
  for (const { seq } of isAboutEvents(query) ? matches.slice(0, EVENTS_SHOWN) : []) {
    const range = { afterSeq: seq - 1, upToSeq: seq, limit: 1 }
    const [event] = await reader.toPlainEvents(await store.readRun({ workspace, runId }, range))
    if (!event) continue
    const { eventId, eventType, timestamp } = event
    events.push({
      seq,
      eventId,
      eventType,
      timestamp,
      highlight: highlight(searchedText(event), query.all) ?? null,
    })
  }
  return { run: (run as NonNullable<typeof run>).summary, score, found: matches.length, events }
}

const formatPlace = ({ upTo, shown, first }: SearchPosition): string => `${first ? 'a' : 'b'}${upTo}.${shown}`

function parsePlace(cursor: string): SearchPosition {
  const [, kind, upTo, shown] = /^([ab])(\d{1,15})\.(\d{1,6})$/.exec(cursor) ?? []
  if (kind !== undefined) return { upTo: Number(upTo), shown: Number(shown), first: kind === 'a' }
  throw new ClewError(
    'bad_option',
    'The cursor is not one that a search gave',
    'Use nextCursor of the page before, with the same query, or none.',
    { option: 'cursor' },
  )
}
