import { hash } from 'node:crypto'
import {
  type ClewEvent,
  deriveId,
  type EventInput,
  isOwn,
  isTerminal,
  type Ledger,
  readPartialOutputs,
  type RecordedStopRequest,
  type RunSummary,
  type StepSkeleton,
} from '@clew/ledger'
import type { RunLease } from './lease-run.ts'

/** How a run that is ended for it ends. */
export interface HeldEnding {
  readonly eventType: 'system.workflow_stopped' | 'system.workflow_failed'
  readonly payload: object
}

/** A request to end; without an event where nobody asked. */
export type HeldRequest = Omit<RecordedStopRequest, 'eventId'> & { readonly eventId: string | null }

const SOURCE = { origin: 'system', runtime: 'clew' } as const
const sha256 = (text: string): string => hash('sha256', text)

/**
 * Ends a run that nobody works on: the stops of all steps that are still open and the end of the run, in one append,
 * after its child runs were stopped. Does nothing to a run that has ended meanwhile.
 */
export async function stopHeld(
  ledger: Ledger,
  { runId, epoch }: Pick<RunLease, 'runId' | 'epoch'>,
  request: HeldRequest,
  stopChild: (runId: string) => Promise<void>,
  ending: HeldEnding = { eventType: 'system.workflow_stopped', payload: {} },
): Promise<void> {
  const summary = await ledger.getRun(runId)
  if (!summary || isTerminal(summary.status)) return
  const open = await openSteps(ledger, summary)
  // Children first: should this process end in between, the request still stands and can be followed again.
  await Promise.all((await openChildren(ledger, runId, open)).map(stopChild))
  const partialOf = open.length > 0 ? await readPartialOutputs(ledger, runId) : () => ({})
  const reason = request.reason ?? 'stop requested'
  const draft = (eventType: string, ids: readonly (string | number)[], payload: object): EventInput => ({
    eventType,
    eventId: deriveId(sha256, runId, eventType, ...ids),
    correlationId: runId,
    causationId: request.eventId,
    source: SOURCE,
    payload: { ...payload, reason },
  })
  await ledger.append(
    [
      ...open.map(({ stepId, attempt }) =>
        draft('execution.step_stopped', [stepId, attempt], {
          stepId,
          attempt,
          ...partialOf({ stepId, attempt }),
        }),
      ),
      // Once per epoch: a run that was resumed after a stop can be stopped again.
      draft(ending.eventType, [epoch], ending.payload),
    ],
    { epoch, keepStepIds: true },
  )
}

async function openSteps(ledger: Ledger, { runId, forkedFrom }: RunSummary): Promise<StepSkeleton[]> {
  // The rows of a fork are its own steps; one that it shares with its source may be open too.
  const steps = forkedFrom ? await ledger.getSteps(runId) : await ledger.getSkeleton(runId)
  return steps.filter(({ status }) => status === 'running' || status === 'paused')
}

/** Steps that have nothing below them. */
const LEAVES: ReadonlySet<string> = new Set(['effect', 'interrupt', 'sleep', 'receive'])

async function openChildren(ledger: Ledger, runId: string, open: readonly StepSkeleton[]): Promise<string[]> {
  const found = new Set<string>()
  for (const { childRunId, kind, spanId } of open)
    if (childRunId !== null) found.add(childRunId)
    else if (!LEAVES.has(kind))
      // A step with many children names none of them; each of them names the step's start as its cause.
      for (const event of await ledger.effects(spanId))
        if (isChild(event, runId)) found.add(event.correlationId)
  return [...found]
}

const isChild = (event: ClewEvent, parentRunId: string): boolean =>
  isOwn(event, 'system.workflow_started') && event.payload.parentRunId === parentRunId
