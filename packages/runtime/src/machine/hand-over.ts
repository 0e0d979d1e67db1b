import { ClewError } from '@clew/ledger'
import type { MachineState } from './machine-state.ts'
import type { Scope } from './scope.ts'

/** Whether something that was begun may still come to its end by itself. */
export const isInFlight = (core: MachineState): boolean =>
  core.working + core.writes.inFlight > 0 || hasBusyBody(core, core.root)

/** A body that is busy with something of its own, and not only waiting for ends that are not handed over any more. */
function hasBusyBody(core: MachineState, scope: Scope): boolean {
  const waiting = new Set(core.waits.steps)
  for (const step of scope.hasSteps ? scope.steps : []) {
    const { body, open } = step
    if (!open || !body || waiting.has(step) || core.heldBack.has(body)) continue
    if (core.ready.some((each) => each.step.scope === body)) continue
    if (core.cursor?.held.some((step) => step.scope === body)) continue
    if (!body.hasSteps || hasBusyBody(core, body)) return true
  }
  return false
}

export const handedOver = (runId: string): ClewError =>
  new ClewError(
    'stopped',
    `Run ${runId} is handed over: this process ends`,
    'End the work; whoever goes on with the run does it again.',
    { runId, reason: 'handed over' },
  )
