import { asOwn } from '../catalogue/catalogue.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import type { Ledger } from '../ledger.ts'

/** Input and output of a run. */
export interface RunValues {
  /** Null where there is none, or where it was erased. */
  readonly input: unknown
  /** Output of a completed run; that of a graph is its state. */
  readonly output: unknown
}

const TYPES = [
  'system.workflow_submitted',
  'system.workflow_started',
  'system.workflow_forked',
  'execution.completed',
  'system.workflow_completed',
]

/** Input and output of a run. They may be large, so summaries do not carry them. */
export async function readRunValues(
  ledger: Pick<Ledger, 'read' | 'getState'>,
  { runId, status, checkpoint }: RunSummary,
): Promise<RunValues> {
  let input: unknown
  let output: unknown
  for await (const event of ledger.read(runId, { types: TYPES })) {
    const own = asOwn(event)
    if (
      own?.eventType === 'system.workflow_submitted' ||
      own?.eventType === 'system.workflow_started' ||
      own?.eventType === 'system.workflow_forked'
    )
      input = own.payload.input ?? input
    else if (own?.eventType === 'execution.completed' || own?.eventType === 'system.workflow_completed')
      output = own.payload.output ?? output
  }
  const isCompleted = status === 'completed' || status === 'partial'
  if (isCompleted && output === undefined && checkpoint) output = (await ledger.getState(runId))?.state
  return { input: input ?? null, output: (isCompleted ? output : undefined) ?? null }
}
