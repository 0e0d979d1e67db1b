import type { Core } from './core.ts'
import { settle, signalOf } from './perform.ts'
import { placeholderIn } from './placeholders.ts'
import type { Outcome, Step } from './step.ts'

export const isRedacted = (recorded: Outcome): boolean =>
  'output' in recorded && placeholderIn(recorded.output) !== undefined

/**
 * P2: a placeholder is never handed to code as if it were the value. An effect that says `refresh` is called again, and
 * nothing of that is recorded; any other blocks the run, and nothing is given.
 */
export async function refresh(core: Core, step: Step, recorded: Outcome): Promise<Outcome | undefined> {
  const { work, input } = step.spec
  if (work.kind !== 'effect' || !work.refresh) {
    const expected = 'output' in recorded ? placeholderIn(recorded.output) : undefined
    core.diverge({ kind: 'redacted', stepId: step.stepId, expected, received: null })
    return undefined
  }
  const effectCall = {
    attempt: step.attempt,
    idempotencyKey: core.keyOf(step),
    signal: signalOf(step, core.options.signal),
    usage: () => {},
  }
  return new Promise((resolve) =>
    settle(core.journal, step, () => work.fn(input, effectCall), undefined, resolve),
  )
}
