import { asErasable } from '../catalogue/catalogue.ts'
import { ClewError } from '../errors.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import type { Ledger } from '../ledger.ts'

export interface StopRequest {
  readonly reason: string | null
  readonly by: string | null
}

export interface RecordedStopRequest extends StopRequest {
  readonly eventId: string
}

const REQUEST = 'system.stop_requested'
/** Events that settle an earlier request: the run was stopped, or resumed after it. */
const SETTLED = ['system.workflow_stopped', 'system.workflow_resumed']

/** The request that the run has not followed yet. It needs no lease, so anyone may have written it. */
export async function findStopRequest(
  ledger: Ledger,
  summary: RunSummary,
): Promise<RecordedStopRequest | null> {
  if (!summary.stopRequested) return null
  let found: RecordedStopRequest | null = null
  for await (const event of ledger.read(summary.runId, { types: [REQUEST, ...SETTLED] })) {
    const own = asErasable(event)
    if (own?.eventType === REQUEST) {
      const { reason = null, by = null } = own.payload
      found = { eventId: own.eventId, reason, by }
    } else found = null
  }
  return found
}

export async function recordStopRequest(
  ledger: Ledger,
  runId: string,
  { reason, by }: StopRequest,
): Promise<RecordedStopRequest> {
  const { eventId } = await ledger.record({
    eventType: REQUEST,
    correlationId: runId,
    source: { origin: 'system', runtime: 'clew' },
    payload: { ...(reason !== null && { reason }), ...(by !== null && { by }) },
  })
  return { eventId, reason, by }
}

/** Abort reason that the owner of the run receives. */
export const stopAsked = (runId: string, { reason, by }: StopRequest): ClewError =>
  new ClewError(
    'stopped',
    `Run ${runId} was asked to stop${by === null ? '' : ` by ${by}`}`,
    'What it had completed is recorded; resume or fork it to go on from there.',
    { runId, reason, by },
  )
