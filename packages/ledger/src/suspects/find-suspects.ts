import type { ClewEvent } from '../event/envelope.ts'
import { textOf } from '../fold/fields.ts'
import { foldSteps } from '../fold/steps.ts'
import { type Case, productsOf } from './case.ts'
import { courseClues } from './course-clues.ts'
import { differenceClues } from './difference-clues.ts'
import { type Clue, type ClueKind, MIN_WEIGHT, MIN_WEIGHT_OF_GOOD } from './suspicion.ts'
import {
  cachedClues,
  cutShortClues,
  instructionClues,
  missingFieldClues,
  oddClues,
  redactedClues,
  sourceClues,
  usageClues,
} from './value-clues.ts'

/** An event that may be the cause of what went wrong, with what speaks for it. */
export interface Suspect {
  readonly seq: number
  readonly eventId: string
  readonly eventType: string
  readonly stepId: string | null
  readonly kind: ClueKind
  readonly why: string
  /** From 0 to 1: how much speaks for it, by a fixed rule; not a probability. */
  readonly weight: number
  /** Events from there to where it showed. */
  readonly led: readonly { readonly seq: number; readonly eventId: string; readonly label: string }[]
}

const MAX_SUSPECTS = 3
const MAX_REASONS = 2
/** A second one is named only if nearly as much speaks for it. */
const CLOSE = 0.5

/** Likely causes, the likeliest first; none for a run of which nothing is wrong. */
export function findSuspects(
  found: Case,
  good: { readonly runId: string; readonly events: readonly ClewEvent[] } | null,
  /** It was asked for the same. Another input leads another way, and nothing is wrong with that. */
  isSameTask: boolean,
): Suspect[] {
  const peers = good ? productsOf(good.events, foldSteps(good.events)) : []
  const clues: Clue[] = [
    ...courseClues(found),
    ...redactedClues(found),
    ...usageClues(found),
    ...cutShortClues(found),
    ...instructionClues(found),
    ...oddClues(found, peers),
    ...missingFieldClues(found, peers),
    ...cachedClues(found),
    ...(found.isBad ? sourceClues(found) : []),
    ...(good && isSameTask ? differenceClues(found, good.events, good.runId) : []),
  ]
  const byEvent = Map.groupBy(clues, ({ event }) => event)
  const weighed = [...byEvent]
    .map(([event, reasons]) => ({
      event,
      reasons: reasons.toSorted((a, b) => b.weight - a.weight),
      weight: 1 - reasons.reduce((left, { weight }) => left * (1 - Math.min(weight, 0.97)), 1),
    }))
    .filter(({ weight }) => weight >= (found.isBad ? MIN_WEIGHT : MIN_WEIGHT_OF_GOOD))
    // Of equals the earlier one: what comes later may follow from it.
    .toSorted((a, b) => b.weight - a.weight || a.event.ledger.seq - b.event.ledger.seq)
  const [first] = weighed
  return weighed
    .filter(({ weight }) => first !== undefined && weight >= first.weight * CLOSE)
    .slice(0, MAX_SUSPECTS)
    .map(({ event, reasons, weight }) => toSuspect(found, event, reasons, weight))
}

function toSuspect({ end }: Case, event: ClewEvent, reasons: readonly Clue[], weight: number): Suspect {
  const { eventId, eventType, ledger, payload } = event
  const stepId = typeof payload['stepId'] === 'string' ? payload['stepId'] : null
  const path = [event, ...(end && end.event !== event ? [end.event] : [])]
  return {
    seq: ledger.seq,
    eventId,
    eventType,
    stepId,
    kind: (reasons[0] as Clue).kind,
    why: reasons
      .slice(0, MAX_REASONS)
      .map(({ why }) => why)
      .join('; '),
    weight: Math.round(weight * 100) / 100,
    led: path.map((each) => ({
      seq: each.ledger.seq,
      eventId: each.eventId,
      label: (textOf(each.payload['stepId']) ?? textOf(each.payload['name']) ?? each.eventType).slice(0, 120),
    })),
  }
}
