import type { ClewEvent } from '../event/envelope.ts'

/** What makes an event suspicious. Weights of several add up; `why` is a part of a sentence. */
export interface Clue {
  readonly event: ClewEvent
  readonly kind: ClueKind
  readonly weight: number
  readonly why: string
}

export type ClueKind =
  | 'differs'
  | 'source'
  | 'odd value'
  | 'odd shape'
  | 'cut short'
  | 'instruction'
  | 'nothing found'
  | 'cached'
  | 'redacted'
  | 'retries'
  | 'failed'
  | 'stopped'
  | 'unanswered'
  | 'interrupted'
  | 'hand-off'
  | 'decision'
  | 'usage'

/** Found in none of the other runs and named by no error, a clue of less than this is left unsaid. */
export const MIN_WEIGHT = 0.35
/** In a run that went well, only what is wrong by itself is worth a word. */
export const MIN_WEIGHT_OF_GOOD = 0.9
