import type { MachineState } from './machine-state.ts'
import { settle, signalOf } from './perform.ts'
import { placeholdersOf, textsFrom } from './placeholders.ts'
import { copyInput } from './recorded-copy.ts'
import type { Outcome, Step, Work } from './step.ts'

export const isRedacted = (recorded: Outcome, work: Work): boolean =>
  placeholdersOf(recorded, work).length > 0

/**
 * P2: what code is given of a recorded outcome with placeholders. Text with a placeholder inside is given as it is, with
 * a warning. A value that is a placeholder as a whole blocks the run: code would use it as the secret.
 */
export function giveRedacted(
  core: MachineState,
  { stepId, spec }: Step,
  recorded: Outcome,
): Outcome | undefined {
  const places = placeholdersOf(recorded, spec.work)
  const whole = places.find(({ isWhole }) => isWhole)
  if (whole) {
    core.diverge({
      kind: 'redacted',
      stepId,
      expected: whole.path,
      received: null,
      secretKind: whole.kind,
    })
    return undefined
  }
  core.noteTexts(textsFrom(`step ${stepId}`, places))
  return recorded
}

/** The same, but an effect that says `refresh` is called again, and nothing of that is recorded. */
export async function refresh(
  core: MachineState,
  step: Step,
  recorded: Outcome,
): Promise<Outcome | undefined> {
  const { work } = step.spec
  if (work.kind !== 'effect' || !work.refresh) return giveRedacted(core, step, recorded)
  const effectCall = {
    attempt: step.attempt,
    idempotencyKey: core.keyOf(step),
    signal: signalOf(step, core.unwinding.signal),
    usage: () => {},
  }
  return new Promise((resolve) =>
    settle(core, step, () => work.fn(copyInput(core.ledger, step.spec), effectCall), undefined, resolve),
  )
}
