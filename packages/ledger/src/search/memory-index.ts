import type { RunSummary } from '../fold/run-summary.ts'
import { findPhrase } from './highlight.ts'
import {
  type CostFilter,
  FIELD_WEIGHTS,
  type FindOptions,
  isAboutEvents,
  type Phrase,
  SEARCH_FIELDS,
  type SearchDocument,
  type SearchIndex,
  type SearchMatch,
  type SearchQuery,
  type ValueFilter,
} from './search-index.ts'
import { indexedTokens } from './tokens.ts'

interface Entry extends SearchDocument {
  readonly words: readonly (readonly string[])[]
}

/** The index of a store in memory: a list that is gone through. */
export function createMemoryIndex(
  findRun: (workspace: string, runId: string) => RunSummary | undefined,
): SearchIndex {
  let entries: Entry[] = []
  let state = { position: 0, version: 0 }
  const runs = new Map<string, { first: number; recordedAt: string }>()
  const keyOf = ({ workspace, runId }: { workspace: string; runId: string }): string =>
    `${workspace}\n${runId}`

  function fits(entry: Entry, query: SearchQuery): boolean {
    const run = findRun(entry.workspace, entry.runId)
    const place = runs.get(keyOf(entry))
    if (!isAboutEvents(query) && place?.first !== entry.position) return false
    const recordedAt = isAboutEvents(query) ? entry.recordedAt : (place?.recordedAt ?? '')
    const shortType = entry.eventType.slice(entry.eventType.indexOf('.') + 1)
    return (
      (query.since === null || recordedAt >= query.since) &&
      every(query.type, [entry.eventType, shortType]) &&
      every(query.tool, [entry.tool]) &&
      every(query.run, [entry.runId]) &&
      every(query.agent, [run?.agent ?? null]) &&
      every(query.thread, [run?.threadId ?? null]) &&
      query.status.every(
        ({ values, negated }) => values.some((status) => status === run?.status) !== negated,
      ) &&
      query.cost.every((filter) => costFits(run?.cost, filter)) &&
      query.all.every((phrase) => has(entry, phrase)) &&
      !query.none.some((phrase) => has(entry, phrase))
    )
  }

  function relevance(entry: Entry, phrases: readonly Phrase[]): number {
    let sum = 0
    for (const phrase of phrases)
      for (const [at, field] of SEARCH_FIELDS.entries())
        if (findPhrase(entry.words[at] ?? [], phrase) >= 0) sum += FIELD_WEIGHTS[field]
    return sum
  }

  return {
    state: async () => state,
    async add({ from, position, version, documents }) {
      if (from !== state.position) return false
      for (const document of documents) {
        entries.push({
          ...document,
          words: SEARCH_FIELDS.map((field) => indexedTokens(document.fields[field])),
        })
        const { first } = runs.get(keyOf(document)) ?? { first: document.position }
        runs.set(keyOf(document), { first, recordedAt: document.recordedAt })
      }
      state = { position, version }
      return true
    },
    async find({ workspace, query, upTo, after = 0, runId, limit }: FindOptions) {
      const found: SearchMatch[] = []
      for (let at = entries.length - 1; at >= 0 && found.length < limit; at--) {
        const entry = entries[at] as Entry
        if (entry.workspace !== workspace || entry.position > upTo || entry.position <= after) continue
        if ((runId !== undefined && entry.runId !== runId) || !fits(entry, query)) continue
        const { position, seq, recordedAt } = entry
        found.push({ position, runId: entry.runId, seq, recordedAt, relevance: relevance(entry, query.all) })
      }
      return found
    },
    async blank(documents) {
      const changed = new Map(documents.map(({ after }) => [after.position, after]))
      let rows = 0
      entries = entries.map((entry) => {
        const after = changed.get(entry.position)
        if (!after) return entry
        rows++
        return { ...after, words: SEARCH_FIELDS.map(() => []) }
      })
      return rows
    },
    async remove(documents) {
      const gone = new Set(documents.map(({ position }) => position))
      entries = entries.filter(({ position }) => !gone.has(position))
    },
    async clear() {
      entries = []
      runs.clear()
      state = { position: 0, version: 0 }
    },
  }
}

const has = ({ words }: Entry, phrase: Phrase): boolean =>
  words.some((field) => findPhrase(field, phrase) >= 0)

function every(filters: readonly ValueFilter[], actual: readonly (string | null)[]): boolean {
  return filters.every(
    ({ values, negated }) =>
      values.some(({ text, prefix }) =>
        actual.some((each) => each !== null && (prefix ? each.startsWith(text) : each === text)),
      ) !== negated,
  )
}

/** An unknown cost is neither above nor below anything. */
function costFits(cost: number | null | undefined, { op, amount, negated }: CostFilter): boolean {
  if (typeof cost !== 'number') return false
  const fits =
    op === '<'
      ? cost < amount
      : op === '<='
        ? cost <= amount
        : op === '>'
          ? cost > amount
          : op === '>='
            ? cost >= amount
            : cost === amount
  return fits !== negated
}
