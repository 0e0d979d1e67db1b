import type { ErasableEvent } from '../catalogue/catalogue.ts'
import { isErased } from './fields.ts'
import type { RunSummary } from './run-summary.ts'

/** A signal that a run waits for, or its child run. */
export interface SignalWait {
  readonly name: string
  readonly childRunId?: string | undefined
}

/** Signals of a run, counted: which they are is read from its events (`readSignals`). */
export interface SignalCounts {
  readonly unread: number
  /** All that came before this seq were received by the run. */
  readonly sinceSeq: number
  /** Seq of the newest one, those for child runs included. */
  readonly lastSeq: number
}

/** An operator's pause: nothing takes the run up before it is resumed by hand (W7). */
export interface Held {
  readonly reason: string | null
  readonly by: string | null
  readonly since: string
  /** When the run goes on by itself, once it is resumed. */
  readonly dueAt: string | null
}

type MutableSummary = { -readonly [K in keyof RunSummary]: RunSummary[K] }

const NO_SIGNALS: SignalCounts = { unread: 0, sinceSeq: 0, lastSeq: 0 }

/** Counts a signal, and wakes the run if it waits for it. */
export function foldSignal(
  next: MutableSummary,
  summary: RunSummary,
  event: ErasableEvent<'system.signal_received'>,
): void {
  const { name, childRunId } = event.payload
  const { unread, sinceSeq } = summary.signals ?? NO_SIGNALS
  const { seq } = event.ledger
  const counts = childRunId === undefined && !isErased(event)
  next.signals = {
    unread: counts ? unread + 1 : unread,
    sinceSeq: unread === 0 && counts ? seq - 1 : sinceSeq,
    lastSeq: seq,
  }
  const isAwaited = summary.awaits?.some((wait) => wait.name === name && wait.childRunId === childRunId)
  if (summary.status === 'paused' && isAwaited) wake(next, event.timestamp)
}

/** Counts a signal off that a step took. */
export function foldTaken(
  next: MutableSummary,
  summary: RunSummary,
  { payload, ledger }: ErasableEvent<'execution.step_completed' | 'execution.step_failed'>,
): void {
  const { signals } = summary
  if (payload.signal === undefined || !signals) return
  const unread = Math.max(0, signals.unread - 1)
  next.signals = { ...signals, unread, sinceSeq: unread === 0 ? ledger.seq : signals.sinceSeq }
}

/** The run rests: what it waits for, and whether a signal came that it did not see. */
export function foldPaused(
  next: MutableSummary,
  summary: RunSummary,
  { payload, timestamp }: ErasableEvent<'system.workflow_paused'>,
): void {
  const { dueAt = null, awaits = [], seenSeq = 0, reason } = payload
  // No question is open and no signal is awaited: the run waits for a time, or for a worker.
  next.status = summary.pauses.length > 0 || awaits.length > 0 ? 'paused' : 'pending'
  // What an operator had let go of goes on at once when it is resumed.
  next.dueAt = reason === undefined ? dueAt : timestamp
  if (awaits.length > 0) next.awaits = awaits
  else delete next.awaits
  if (awaits.length > 0 && (summary.signals?.lastSeq ?? 0) > seenSeq) wake(next, timestamp)
}

/** Others may be open, but what waits for this signal can go on. */
function wake(next: MutableSummary, at: string): void {
  delete next.awaits
  next.status = next.pauses.length > 0 ? 'paused' : 'pending'
  next.dueAt = next.pauses.length > 0 ? at : null
}

export function foldPauseRequest(
  next: MutableSummary,
  { payload, timestamp }: ErasableEvent<'system.pause_requested'>,
): void {
  const { reason = null, by = null } = payload
  next.held ??= { reason, by, since: timestamp, dueAt: null }
}

/** While a run is held it is not due: stores need to know nothing of holds. */
export function holdBack(next: MutableSummary): void {
  const { held, status, dueAt } = next
  if (!held || (status !== 'pending' && status !== 'interrupted' && status !== 'paused')) return
  next.status = 'paused'
  if (dueAt === null) return
  next.held = { ...held, dueAt }
  next.dueAt = null
}

export function foldResumeRequest(next: MutableSummary): void {
  const { held, status } = next
  delete next.held
  if (!held || status !== 'paused') return
  next.dueAt = held.dueAt
  if (next.pauses.length === 0 && !next.awaits) next.status = 'pending'
}
