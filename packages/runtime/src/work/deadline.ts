import { ClewError, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import type { RunLease } from '../lifecycle/lease-run.ts'
import { holdIfFree, stopAndRelease } from '../lifecycle/request-stop.ts'
import { setLongTimeout } from '../machine/long-timeout.ts'

const REASON = 'deadline'
/** How long a child run that somebody works on is waited for. */
const CHILD_WAIT_MS = 10_000

export const isOverdue = ({ deadlineAt, status }: RunSummary, nowMs = Date.now()): boolean =>
  deadlineAt !== undefined && !isTerminal(status) && Date.parse(deadlineAt) <= nowMs

export const deadlineError = (runId: string, deadlineAt: string): ClewError =>
  new ClewError(
    'deadline',
    `Run ${runId} had not ended by its deadline, ${deadlineAt}`,
    'Submit it again with a later one, or retry it; what it had completed is recorded.',
    { runId, deadlineAt, reason: REASON },
  )

/** Aborts with `deadlineError` when the time comes, until it is closed. */
export interface Deadline {
  readonly signal: AbortSignal
  close(): void
}

export function openDeadline(runId: string, deadlineAt: string | undefined): Deadline | undefined {
  if (deadlineAt === undefined) return undefined
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const expire = (): void => abort.abort(deadlineError(runId, deadlineAt))
  const leftMs = Math.max(0, Date.parse(deadlineAt) - Date.now())
  setLongTimeout(expire, leftMs, (next) => void (timer = next))
  return { signal: abort.signal, close: () => clearTimeout(timer) }
}

/**
 * Fails a run whose deadline has passed, with what is open below it (W1): one that nobody works on, or that was claimed under
 * `lease`. False if somebody else has it: then its owner does so.
 */
export async function failOverdue(ledger: Ledger, run: RunSummary, lease?: RunLease): Promise<boolean> {
  const hold = lease ?? (await holdIfFree(ledger, run.runId))
  if (!hold) return false
  const { code, message, fields } = deadlineError(run.runId, run.deadlineAt ?? '')
  const request = { reason: REASON, by: null, eventId: null }
  const error = { name: 'ClewError', code, message, fields }
  const ending = { eventType: 'system.workflow_failed', payload: { error } } as const
  return stopAndRelease(ledger, hold, request, CHILD_WAIT_MS, ending)
}
