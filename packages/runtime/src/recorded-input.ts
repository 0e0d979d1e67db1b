import type { ClewEvent } from '@clew/ledger'
import { wholePlaceholderIn } from './machine/placeholders.ts'

/** What the code of a run begins with: the input of its start, or the one that its fork was given. */
export function recordedInput(events: readonly ClewEvent[]): unknown {
  const edited = events.findLast(
    ({ eventType, payload }) => eventType === 'system.workflow_forked' && payload['input'] !== undefined,
  )
  return (edited ?? events[0])?.payload['input'] ?? null
}

/** What whoever started the run should know before it is too late (P2). */
export function warningsOf(events: readonly ClewEvent[]): readonly string[] {
  const place = wholePlaceholderIn(recordedInput(events))
  return place === undefined
    ? []
    : [
        `The input holds a secret at ${place.path} (${place.kind}), which is not stored: a resume is blocked unless it is given again, by resume({ secrets }). Or let an effect fetch the secret, by a name that the input gives.`,
      ]
}
