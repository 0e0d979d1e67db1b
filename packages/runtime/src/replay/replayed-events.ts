import type { ClewEvent, Ledger } from '@clew/ledger'

import type { Outcome, Step } from '../machine/step.ts'
import type { Comparison } from './same-value.ts'
import type { StepEvent } from '../machine/record.ts'

/** The events of steps as the code made them this time, by the id of the recorded event whose place they take. */
export interface ReplayedEvents {
  readonly events: ReadonlyMap<string, ClewEvent>
  began(step: Step, start: StepEvent): void
  ended(end: ClewEvent, outcome: Outcome): void
}

/** Replayed events are shown to users, so secrets from the vault or from the code are redacted (P3). */
export function createReplayedEvents(ledger: Ledger, { shown }: Pick<Comparison, 'shown'>): ReplayedEvents {
  const events = new Map<string, ClewEvent>()

  function put(event: ClewEvent, payload: Record<string, unknown>): void {
    const before = events.get(event.eventId) ?? event
    const told = shown({ ...before.payload, ...payload }) as ClewEvent['payload']
    events.set(event.eventId, { ...before, payload: told })
  }

  return {
    events,
    began({ spec }, start) {
      const { name, input, isInputKept, digest } = spec
      put(start, {
        name,
        ...(start.payload.inputDigest !== undefined && {
          inputDigest: digest ? digest() : ledger.digest(input ?? null),
        }),
        ...(isInputKept && input !== undefined && start.payload.input !== undefined && { input }),
      })
    },
    ended(end, outcome) {
      if ('error' in outcome) return put(end, { error: outcome.error.toJSON() })
      const { output, fields = {} } = outcome
      const { decision, goto, sends, ends } = fields
      put(end, {
        ...((output ?? null) !== null && { output }),
        ...(decision !== undefined && { decision }),
        ...(goto !== undefined && { goto }),
        ...(sends !== undefined && { sends }),
        ...(ends !== undefined && { ends }),
      })
    },
  }
}
