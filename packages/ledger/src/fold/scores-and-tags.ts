import type { ErasableEvent } from '../catalogue/catalogue.ts'
import { whoOf } from './fields.ts'

export type ScoreValue = number | string | boolean

/** A score that counts: the latest of its target, name and giver, unless that one took it back. */
export interface Score {
  /** The step it is about; null for the run. */
  readonly stepId: string | null
  /** The attempt it is about; null for the step as a whole. */
  readonly attempt: number | null
  readonly name: string
  readonly value: ScoreValue
  /** Author of the score: a person's or program's name, else the event's source. */
  readonly by: string
  readonly why: string | null
  readonly seq: number
  readonly at: string
}

export type RunTags = Readonly<Record<string, string>>

export const NO_TAGS: RunTags = Object.freeze({})
export const NO_SCORES: readonly Score[] = Object.freeze([])

/** Scores in the order in which the latest of each was given. */
export function foldScore(scores: readonly Score[], event: ErasableEvent<'system.scored'>): readonly Score[] {
  const { payload } = event
  if (payload.target === undefined) return scores
  const stepId = payload.target === 'step' ? payload.stepId : null
  const attempt = payload.target === 'step' ? (payload.attempt ?? null) : null
  const { name, value, why = null } = payload
  const by = whoOf(event)
  const others = scores.filter(
    (score) => score.name !== name || score.by !== by || score.stepId !== stepId || score.attempt !== attempt,
  )
  if (value === null) return others
  return [...others, { stepId, attempt, name, value, by, why, seq: event.ledger.seq, at: event.timestamp }]
}

/** RunTags after the event. A spread keeps any key, `__proto__` included, as a field of its own. */
export function foldTags(
  tags: RunTags,
  { payload: { set = {}, unset = [] } }: ErasableEvent<'system.tagged'>,
): RunTags {
  const kept =
    unset.length === 0
      ? tags
      : Object.fromEntries(Object.entries(tags).filter(([key]) => !unset.includes(key)))
  return { ...kept, ...set }
}

export const SCORE_OPERATORS = ['=', '!=', '<', '<=', '>', '>='] as const

/** A condition on the scores of a run: `{ name: 'accuracy', op: '>=', value: 0.5 }`. */
export interface ScoreFilter {
  readonly name: string
  readonly op: (typeof SCORE_OPERATORS)[number]
  readonly value: ScoreValue
}

export interface ScoreAndTagFilter {
  /** Only runs that have all of these tags with these values. */
  readonly tags?: RunTags | undefined
  /** Only runs that have tags of all these names, with any value. */
  readonly hasTags?: readonly string[] | undefined
  /** Only runs of which, for each of these, a score of the run or of one of its steps fits. */
  readonly scores?: readonly ScoreFilter[] | undefined
}

export const matchesScoresAndTags = (
  { tags, scores }: { readonly tags: RunTags; readonly scores: readonly Score[] },
  filter: ScoreAndTagFilter,
): boolean =>
  Object.entries(filter.tags ?? {}).every(
    ([key, value]) => Object.hasOwn(tags, key) && tags[key] === value,
  ) &&
  (filter.hasTags ?? []).every((name) => Object.hasOwn(tags, name)) &&
  (filter.scores ?? []).every((wanted) =>
    scores.some((score) => score.name === wanted.name && fits(score.value, wanted)),
  )

/** Only numbers have an order; a value of another type than the given one is neither less nor greater, and not equal. */
function fits(value: ScoreValue, { op, value: given }: ScoreFilter): boolean {
  if (op === '=') return value === given
  if (op === '!=') return value !== given
  if (typeof value !== 'number' || typeof given !== 'number') return false
  if (op === '<') return value < given
  if (op === '<=') return value <= given
  return op === '>' ? value > given : value >= given
}
