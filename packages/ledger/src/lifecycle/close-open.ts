import type { EventInput } from '../event/envelope.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import { readBeginning } from '../event/join-submission.ts'
import type { Ledger } from '../ledger.ts'
import { isOwn } from '../catalogue/catalogue.ts'
import { readPartialOutputs } from '../progress/partial-output.ts'

const SOURCE = { origin: 'system', runtime: 'clew' } as const

/** An event by which another process than its owner ends a run, or a part of it. */
export const endingEvent = (
  eventType: string,
  runId: string,
  payload: Readonly<Record<string, unknown>>,
): EventInput => ({ eventType, correlationId: runId, causationId: null, source: SOURCE, payload })

/**
 * Events that end the steps which a dead owner left open. Empty for a run of the runtime: a resume recovers its own
 * steps and needs to know that they were in flight (R10); until then they show as interrupted since their run is.
 */
export async function closeOpenSteps(ledger: Ledger, runId: string, reason: string): Promise<EventInput[]> {
  if (await isResumedByCode(ledger, runId)) return []
  const open = (await ledger.getSkeleton(runId)).filter(isOpenStep)
  if (open.length === 0) return []
  const partialOf = await readPartialOutputs(ledger, runId)
  return open.map(({ stepId, attempt }) =>
    endingEvent('execution.step_interrupted', runId, {
      stepId,
      attempt,
      reason,
      ...partialOf({ stepId, attempt }),
    }),
  )
}

export const isOpenStep = ({ status }: Pick<StepSkeleton, 'status'>): boolean =>
  status === 'running' || status === 'paused'

/** A run with a seed goes on by running its agent's code again. */
export async function isResumedByCode(ledger: Ledger, runId: string): Promise<boolean> {
  const event = await readBeginning(ledger, runId)
  return event !== undefined && isOwn(event, 'system.workflow_started') && event.payload.seed !== undefined
}
