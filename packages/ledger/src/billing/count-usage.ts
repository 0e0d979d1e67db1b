import type { ClewEvent } from '../event/envelope.ts'
import { beginsStep } from '../fold/begins-step.ts'
import { isExported } from '../fold/happened-order.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import { normaliseUsage, type Usage } from './usage.ts'

/**
 * Decides which usage counts (V7). The tokens of one call are often reported twice: by the message or the call, and
 * again by the step around it or by the run at its end. The report nearest to the call counts:
 *
 * - an event inside a step counts, unless a step around it has ended with usage that was counted;
 * - the end of a step counts if nothing inside it did, and never if a child run did its work: that is billed there;
 * - the end of a run counts if nothing in the run did.
 *
 * The decision is stored on the step (`billing`), so that the next event decides with two look-ups instead of a walk.
 * A step around a counted one may come later, if an exporter recorded the run: then its id is stored until it comes.
 */
export interface StepsOfRun<Step extends StepMark = StepMark> {
  /** The first attempt of a step: it keeps what is known of the step as a whole. */
  find(stepId: string): Step | undefined
  put(step: Step): void
  /** Ids of steps that have not come, and inside of which something counted. */
  readonly awaited: Set<string>
}

export type StepMark = Pick<StepSkeleton, 'stepId' | 'parentStepId' | 'childRunId' | 'billing'>

/** They are in the summary of the run, which is written with each of its events. */
const MAX_AWAITED = 100

const ENDS: ReadonlySet<string> = new Set([
  'execution.step_completed',
  'execution.step_failed',
  'execution.step_stopped',
  'execution.step_interrupted',
])
const isRunEnd = (type: string): boolean =>
  type === 'execution.completed' || type.startsWith('system.workflow_')

/**
 * The usage to count for this event, or null. `counted` is the number of usages of the run counted so far; `begins`
 * says that the event begins an attempt, which a caller knows who knows the steps before it.
 */
export function countUsage<Step extends StepMark>(
  event: ClewEvent,
  steps: StepsOfRun<Step>,
  counted: number,
  begins = beginsStep(event),
): Usage | null {
  const { eventType } = event
  // Any event may report usage, also one of a foreign type.
  const { usage: told, stepId, attempt = 1, childRunId } = event.payload
  if (begins) {
    // Another attempt is billed again, so it starts without marks.
    const first = Number(attempt) > 1 ? steps.find(String(stepId)) : undefined
    if (first?.billing) steps.put({ ...first, billing: null })
    if (steps.awaited.delete(String(stepId))) markAround(steps.find(String(stepId)), event, steps)
    if (eventType === 'execution.step_started') return null
  }
  if (told === undefined) return null
  const usage = normaliseUsage(told)
  if (!usage) return null
  if (isRunEnd(eventType)) return counted === 0 ? usage : null
  const step = typeof stepId === 'string' ? steps.find(stepId) : undefined
  if (!step) return usage
  const isEnd = ENDS.has(eventType)
  if (isEnd && (step.billing || step.childRunId !== null || typeof childRunId === 'string')) return null
  if (!markAround(step, event, steps)) return null
  const marked = isEnd ? steps.find(step.stepId) : undefined
  if (marked) steps.put({ ...marked, billing: 'step' })
  return usage
}

/** Marks a step and those around it as `inside`; false, and marks nothing, if one of them was billed itself. */
function markAround<Step extends StepMark>(
  step: Step | undefined,
  event: ClewEvent,
  steps: StepsOfRun<Step>,
): boolean {
  const around = step && unmarked(step, steps)
  if (!around) return false
  for (const each of around) steps.put({ ...each, billing: 'inside' })
  const outermost = around.at(-1)?.parentStepId
  if (
    typeof outermost === 'string' &&
    isExported(event) &&
    !steps.find(outermost) &&
    steps.awaited.size < MAX_AWAITED
  )
    steps.awaited.add(outermost)
  return true
}

/**
 * The step and its ancestors not yet marked `inside`; undefined if one of them was billed itself. Ancestors of a
 * marked step are marked, so the walk stops there.
 */
function unmarked<Step extends StepMark>(step: Step, steps: StepsOfRun<Step>): Step[] | undefined {
  const found: Step[] = []
  const seen = new Set<string>()
  for (let at: Step | undefined = step; at && !seen.has(at.stepId); ) {
    if (at.billing === 'step') return undefined
    if (at.billing === 'inside') break
    found.push(at)
    seen.add(at.stepId)
    at = at.parentStepId === null ? undefined : steps.find(at.parentStepId)
  }
  return found
}
