import type { ClewEvent } from '../event/envelope.ts'
import { createBeginnings } from '../fold/begins-step.ts'
import { parseStepId } from '../event/step-id.ts'
import { countUsage, type StepMark } from './count-usage.ts'
import type { Usage } from './usage.ts'

/**
 * Counts one run's usages from its first event on, by the rule of `countUsage`; gives what counts of each event. `awaited`
 * has the awaited steps.
 */
export function createUsageCounter(awaited = new Set<string>()): (event: ClewEvent) => Usage | null {
  const marks = new Map<string, StepMark>()
  const steps = {
    find: (stepId: string) => marks.get(stepId),
    put: (mark: StepMark) => void marks.set(mark.stepId, mark),
    awaited,
  }
  const isBeginning = createBeginnings()
  let counted = 0

  function learn({ eventType, payload }: ClewEvent, begins: boolean): void {
    const { stepId, parentStepId, childRunId, attempt } = payload
    if (typeof stepId !== 'string' || (attempt !== undefined && attempt !== 1)) return
    const child = typeof childRunId === 'string' ? childRunId : null
    const known = marks.get(stepId)
    if (begins && !known) {
      const parent =
        typeof parentStepId === 'string' ? parentStepId : (parseStepId(stepId)?.parentStepId ?? null)
      marks.set(stepId, { stepId, parentStepId: parent, childRunId: child, billing: null })
    } else if (eventType === 'execution.step_completed' && known && child !== null)
      marks.set(stepId, { ...known, childRunId: child })
  }

  return (event) => {
    const begins = isBeginning(event)
    learn(event, begins)
    const usage = countUsage(event, steps, counted, begins)
    if (usage) counted++
    return usage
  }
}
