import { systemRunId, ClewError, isSystemRun } from '@clew/ledger'
import { may, type Principal } from '../principal.ts'

const STREAMS = systemRunId('stream', '')

/**
 * Books are what administrators and the server itself write, such as who erased what: nobody may add to them by the
 * way of ordinary events. Messages of streams are ordinary.
 */
export function assertOwnRun(principal: Principal, runId: unknown): void {
  if (
    typeof runId !== 'string' ||
    !isSystemRun(runId) ||
    runId.startsWith(STREAMS) ||
    may(principal, 'admin')
  )
    return
  throw new ClewError(
    'forbidden',
    'Ids that begin with clew: belong to Clew',
    'Give the run another id; nothing of this request was written.',
    { field: 'correlation_id' },
  )
}
