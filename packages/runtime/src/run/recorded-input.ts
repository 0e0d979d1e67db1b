import { type ClewEvent, isOwn } from '@clew/ledger'
import { wholePlaceholderIn } from '../machine/placeholders.ts'

/** Input of the run's code: that of its start, or of its last fork that has one. */
export function recordedInput(events: readonly ClewEvent[]): unknown {
  const edited = events
    .filter((event) => isOwn(event, 'system.workflow_forked'))
    .findLast(({ payload }) => payload.input !== undefined)
  const { input = null } = (edited ?? events[0])?.payload ?? {}
  return input
}

/** Warns at the start if the input has a redacted secret that a resume would need (P2). */
export function warningsOf(events: readonly ClewEvent[]): readonly string[] {
  const place = wholePlaceholderIn(recordedInput(events))
  return place === undefined
    ? []
    : [
        `The input holds a secret at ${place.path} (${place.kind}), which is not stored: a resume is blocked unless it is given again, by resume({ secrets }). Or let an effect fetch the secret, by a name that the input gives.`,
      ]
}
