import { StepError } from '../run/run.ts'
import type { Ends } from './ends.ts'
import type { MachineState } from './machine-state.ts'
import type { Step, Work } from './step.ts'

/**
 * Hands out the next signal that a step waits for. Only when no end is on its way to the code: the signal then wins every
 * race that it takes part in, so a `receive` that loses has taken nothing (W3).
 */
export function createSignals(
  { options, ready, waits }: Pick<MachineState, 'options' | 'ready' | 'waits'>,
  { endGiven }: Pick<Ends, 'endGiven'>,
): () => boolean {
  const { inbox } = options
  return () => {
    if (!inbox?.hasUnread || ready.length > 0) return false
    for (const step of waits.steps) {
      const { work } = step.spec
      if (work.kind !== 'receive') continue
      const event = inbox.take(work.signal)
      if (!event) continue
      waits.delete(step)
      const { eventId, ledger, payload } = event
      const signal = { eventId, seq: ledger.seq, name: payload.name }
      endGiven(step, { output: payload.payload ?? null }, { by: eventId, signal })
      return true
    }
    return false
  }
}

export const notReceived = ({ stepId }: Step, { signal, timeoutMs }: Work & { kind: 'receive' }): StepError =>
  new StepError(
    { name: 'TimeoutError', code: 'timeout', message: `no signal ${signal} came within ${timeoutMs} ms` },
    stepId,
  )
