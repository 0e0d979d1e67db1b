import type { RunSummary } from '../fold/run-summary.ts'
import type { StoreCore, StoredEvent } from '../store/store.ts'
import { fitsAll, fitsNumber, fitsStatus } from '../query/fits-run.ts'
import { findPhrase } from './highlight.ts'
import {
  FIELD_WEIGHTS,
  isAboutEvents,
  type Phrase,
  SEARCH_FIELDS,
  type SearchDocument,
  type SearchIndex,
  type SearchMatch,
  type SearchQuery,
} from './search-index.ts'
import { indexedTokens } from './tokens.ts'

interface Entry extends SearchDocument {
  readonly words: readonly (readonly string[])[]
}

type Core = Pick<StoreCore, 'findRuns' | 'findEvents'>

/** Number of matches compared with the store in one read. */
const BATCH = 500

/** Default search: a list in the memory of this process, scanned by every query. */
export function scanSearch(core: Core): SearchIndex {
  const entries = new Map<number, Entry>()
  let state = { position: 0, version: 0 }

  return {
    state: async () => state,
    async add({ from, position, version, documents }) {
      if (from !== state.position) return false
      for (const document of documents)
        entries.set(document.position, {
          ...document,
          words: SEARCH_FIELDS.map((field) => indexedTokens(document.fields[field])),
        })
      state = { position, version }
      return true
    },
    differing: async (documents) =>
      documents.flatMap((document) => {
        const entry = entries.get(document.position)
        return entry && wordsText(entry) === wordsText(document) ? [] : [document.position]
      }),
    async find({ workspace, query, upTo, after = 0, runId, limit }) {
      const candidates = [...entries.values()]
        .filter(
          (entry) =>
            entry.workspace === workspace &&
            entry.position <= upTo &&
            entry.position > after &&
            (runId === undefined || entry.runId === runId) &&
            fitsEvent(entry, query),
        )
        .toReversed()
      const found: SearchMatch[] = []
      for (let at = 0; at < candidates.length && found.length < limit; at += BATCH) {
        const batch = candidates.slice(at, at + BATCH)
        const { events, runs } = await readStored(core, workspace, batch)
        for (const entry of batch) {
          const event = events.get(entry.position)
          const run = runs.get(entry.runId)
          if (!event || !run || (event.erased && query.all.length + query.tool.length > 0)) continue
          if (!fitsRun(entry, run, query)) continue
          const { position, seq, recordedAt } = entry
          const relevance = relevanceOf(entry, query.all)
          found.push({ position, runId: entry.runId, seq, recordedAt, relevance })
        }
      }
      return found.slice(0, limit)
    },
    async clear() {
      entries.clear()
      state = { position: 0, version: 0 }
    },
  }
}

const wordsText = ({ tool, fields }: SearchDocument): string => JSON.stringify([tool, fields])

interface RunFacts {
  readonly summary: RunSummary
  readonly recordedAt: string
  /** Seq of its first own event. */
  readonly firstSeq: number
}

/** Events and runs as they are now: an entry may be of an erased or pruned event, and the status of its run changes. */
async function readStored(
  core: Core,
  workspace: string,
  batch: readonly Entry[],
): Promise<{ events: ReadonlyMap<number, StoredEvent>; runs: ReadonlyMap<string, RunFacts> }> {
  const positions = batch.map(({ position }) => position)
  const ids = [...new Set(batch.map((entry) => entry.runId))]
  const events = await core.findEvents({ workspace, positions })
  const { runs } = await core.findRuns({ workspace, ids, deleted: true })
  return {
    events: new Map(events.map((event) => [event.position, event])),
    runs: new Map(
      runs.map(({ summary, recordedAt, forkOf }) => [
        summary.runId,
        { summary, recordedAt, firstSeq: (forkOf?.seq ?? 0) + 1 },
      ]),
    ),
  }
}

function fitsEvent(entry: Entry, query: SearchQuery): boolean {
  const shortType = entry.eventType.slice(entry.eventType.indexOf('.') + 1)
  return (
    fitsAll(query.type, [entry.eventType, shortType]) &&
    fitsAll(query.tool, [entry.tool]) &&
    fitsAll(query.run, [entry.runId]) &&
    query.all.every((phrase) => has(entry, phrase)) &&
    !query.none.some((phrase) => has(entry, phrase))
  )
}

/** A query about runs only is answered by the first event of each run. */
function fitsRun(entry: Entry, { summary, recordedAt, firstSeq }: RunFacts, query: SearchQuery): boolean {
  const isForEvents = isAboutEvents(query)
  return (
    (isForEvents || entry.seq === firstSeq) &&
    (query.since === null || (isForEvents ? entry.recordedAt : recordedAt) >= query.since) &&
    fitsAll(query.agent, [summary.agent]) &&
    fitsAll(query.thread, [summary.threadId]) &&
    fitsStatus(summary, query) &&
    query.cost.every((filter) => fitsNumber(summary.cost, filter))
  )
}

function relevanceOf({ words }: Entry, phrases: readonly Phrase[]): number {
  let sum = 0
  for (const phrase of phrases)
    for (const [at, field] of SEARCH_FIELDS.entries())
      if (findPhrase(words[at] ?? [], phrase) >= 0) sum += FIELD_WEIGHTS[field]
  return sum
}

const has = ({ words }: Entry, phrase: Phrase): boolean =>
  words.some((field) => findPhrase(field, phrase) >= 0)
