import type { ClewEvent } from '@clew/ledger'
import { placeholderIn } from './machine/placeholders.ts'

/** What the code of a run begins with: the input of its start, or the one that its fork was given. */
export function recordedInput(events: readonly ClewEvent[]): unknown {
  const edited = events.findLast(
    ({ eventType, payload }) => eventType === 'system.workflow_forked' && payload['input'] !== undefined,
  )
  return (edited ?? events[0])?.payload['input'] ?? null
}

/** What whoever started the run should know before it is too late (P2). */
export function warningsOf(events: readonly ClewEvent[]): readonly string[] {
  const path = placeholderIn(recordedInput(events))
  return path === undefined
    ? []
    : [
        `The input holds a secret at ${path}, which is not stored: only the call that began this run can go on with it, a resume is blocked. Let an effect fetch the secret, by a name that the input gives.`,
      ]
}
