import type { Phrase } from '../search/search-index.ts'
import type { FoundRow, MemoryIndex, RowFilter } from './memory-index.ts'
import type { MemoryQuery } from './parse-words.ts'
import { newestOf, recencyOf } from './recency.ts'

/** A row that fits, from 0 to 1: how well its words do, and that together with how new it is. */
export interface RankedRow extends FoundRow {
  readonly relevance: number
  readonly score: number
}

/**
 * Limit of newest rows considered per word. A word that more rows contain says little about any of them, so the cost
 * of a search is bounded, and a row with a rare word is found however old it is.
 */
const LOOKED_AT = 200
const IN_NAME = 2
/** How much of a score is left to one that fits alike and is very old. */
const OLD = 0.7

/** The same rows in the same order on every store: they only say which rows hold a word. */
export async function rankRows(
  index: MemoryIndex,
  filter: Omit<RowFilter, 'limit'>,
  { words, all, none }: MemoryQuery,
): Promise<RankedRow[]> {
  const rows = new Map<number, FoundRow>()
  const look = async (held: readonly Phrase[], names: readonly Phrase[] = []): Promise<Set<number>> => {
    const found = await index.find({ ...filter, all: [...all, ...held], names, none, limit: LOOKED_AT })
    for (const row of found) rows.set(row.position, row)
    return new Set(found.map((row) => row.position))
  }
  const wanted = words.length > 0 ? words : all
  const withAll = await look(words)
  const weights = new Map<number, number>()
  let most = 0
  for (const phrase of wanted) {
    const holding = wanted.length === 1 ? withAll : await look([phrase])
    const named = await look([], [phrase])
    // Rare words separate rows; a word in all considered rows hardly does.
    const weight = Math.log(1 + LOOKED_AT / Math.max(1, holding.size))
    most += weight * IN_NAME
    for (const position of new Set([...holding, ...named, ...withAll]))
      weights.set(position, (weights.get(position) ?? 0) + weight * (named.has(position) ? IN_NAME : 1))
  }
  const ranked = [...weights].map(([position, weight]) => ({
    ...(rows.get(position) as FoundRow),
    relevance: weight / most,
  }))
  return withRecency(ranked)
}

/**
 * Weighed by age, as counted from the newest of them and not from now: so the same record gives the same order at any
 * time. Best first; of equals the newer.
 */
function withRecency(rows: readonly Omit<RankedRow, 'score'>[]): RankedRow[] {
  const newestMs = newestOf(rows)
  return rows
    .map((row) => ({ ...row, score: row.relevance * (OLD + (1 - OLD) * recencyOf(row, newestMs)) }))
    .sort((a, b) => b.score - a.score || b.position - a.position)
}
