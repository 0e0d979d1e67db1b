import { systemRunId, ClewError, isSystemRun } from '@clew/ledger'
import { may, type Principal } from '../principal.ts'

const STREAMS = systemRunId('stream', '')

/**
 * Refuses appends to system runs, such as the audit run, unless the principal is an administrator. Streams are open to
 * every writer.
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
