import type { EventInput, Lease, ProgressNote, RunStatus, StopRequest } from '@clew/ledger'

/**
 * All that a session needs of the world it writes to, in one workspace: append, progress, a lease to take, renew and
 * give back, and word of who wants it to stop. A ledger is one (`createLedgerPort`); a Clew server over HTTP is the same (`createRemotePort`).
 */
export interface TracePort {
  /** All of them or none, under the lease's epoch. */
  append(events: readonly TraceEvent[], epoch: number): Promise<void>
  progress(notes: readonly ProgressNote[]): Promise<void>
  /** The notes of a step that has ended go. */
  clearProgress(runId: string, stepId: string): Promise<void>
  /** Takes the lease of a session and of its stream; `busy` while another session works there. */
  take(request: TakeRequest): Promise<TakenSession>
  renew(lease: Lease): Promise<void>
  release(lease: Lease): Promise<void>
  /** Which of these sessions have a stop request (R12). */
  findStops(sessionIds: readonly string[]): Promise<readonly SessionStop[]>
  /** Between two looks for that. */
  readonly lookMs: number
}

export interface SessionStop extends StopRequest {
  readonly sessionId: string
}

/** With an id and a time of its own, so that sending it again is no second event (L4). */
export type TraceEvent = EventInput & { readonly eventId: string; readonly timestamp: string }

export interface TakeRequest {
  readonly sessionId: string
  readonly streamId: string
  /** A session that this one takes the place of: if it still works, its lease is taken away, and it ends as superseded. */
  readonly supersedes: string | null
  /** The message that it answers. */
  readonly triggerMessageId?: string | null | undefined
}

/** A session that now belongs to the caller, and how far it had come. */
export interface TakenSession {
  readonly lease: Lease
  /** Null for a new one. */
  readonly found: FoundSession | null
  /** Id of the event of the message that it answers. */
  readonly triggerEventId?: string | null | undefined
}

export interface FoundSession {
  readonly status: RunStatus
  /** Place of its newest event. */
  readonly seq: number
  /** Id of the event by which it began. */
  readonly startId: string | null
  /** Attempts of steps begun so far. */
  readonly stepCount: number
  /** Attempts of steps that a former owner has left open. */
  readonly openSteps: readonly OpenStep[]
}

export interface OpenStep {
  readonly stepId: string
  readonly attempt: number
}
