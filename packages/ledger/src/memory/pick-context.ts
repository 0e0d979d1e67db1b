import type { MemoryLayer } from './item.ts'
import { newestOf, recencyOf } from './recency.ts'

/** Fields of an item that decide whether it is chosen for a context. */
export interface ContextCandidate {
  readonly layer: MemoryLayer
  readonly position: number
  readonly updatedAt: string
  /** How well it fits the query, 0 to 1; 0 for all without one. */
  readonly relevance: number
  readonly tokens: number
}

export interface Picked<T> {
  readonly picked: readonly T[]
  readonly tokens: number
  /** Candidates that did not fit into the budget. */
  readonly left: number
}

/** The nearer a layer is to the work at hand, the more its items count. */
const LAYER_WEIGHTS: Readonly<Record<MemoryLayer, number>> = { short: 1, session: 0.8, long: 0.6 }
/** Relevance counts most where there is a query. */
const FITS = 3

/**
 * Chooses by layer, relevance and recency until the budget is used up; one that is too large is passed over. Pure: the same
 * candidates and budget give the same choice, at any time. Best first.
 */
export function pickContext<T extends ContextCandidate>(
  candidates: readonly T[],
  budgetTokens: number,
): Picked<T> {
  const newestMs = newestOf(candidates)
  const scoreOf = (candidate: T): number =>
    LAYER_WEIGHTS[candidate.layer] * (FITS * candidate.relevance + recencyOf(candidate, newestMs))
  const ranked = candidates
    .map((candidate) => ({ candidate, score: scoreOf(candidate) }))
    .sort((a, b) => b.score - a.score || b.candidate.position - a.candidate.position)
  const picked: T[] = []
  let tokens = 0
  for (const { candidate } of ranked) {
    if (tokens + candidate.tokens > budgetTokens) continue
    picked.push(candidate)
    tokens += candidate.tokens
  }
  return { picked, tokens, left: candidates.length - picked.length }
}
