import {
  type ClewEvent,
  ClewError,
  type EventInput,
  type Ledger,
  type Payload,
  type RunSummary,
  isoText,
} from '@clew/ledger'
import { toConflict } from './conflict.ts'
import type { Saved } from './saved.ts'

const SOURCE = { origin: 'agent', runtime: 'langgraph' } as const

/**
 * The framework makes one for each invocation, so it tells them apart, and aborts it when the caller does or leaves the
 * stream early. Undefined for a caller that is no graph.
 */
export type InvocationSignal = AbortSignal | undefined

/** Events that wait for others to go with them. */
interface Outgoing {
  drafts: readonly BufferedEvent[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * A run that is being written here. What it will look like is known before it is committed, so that appends need not
 * wait for each other; when one fails, the line is dropped and read again from the record.
 */
export interface RunBuffer {
  readonly runId: string
  /** Seq of the run after all pending commits, and number of its own events. */
  seq: number
  /** Seq up to which events were sent to the ledger; later ones wait in the outbox. */
  toldSeq: number
  outbox: Outgoing[]
  /** The outbox is looked at when the turn ends. */
  isDue: boolean
  events: number
  head: Saved | null
  /** The run has a checkpoint of its own: a new fork has only those of its source. */
  hasOwn: boolean
  status: RunSummary['status']
  /** Another run went on from its head: nothing may follow here. */
  isClosed: boolean
  /** The ledger returned all payloads unchanged, so that reads can be served from this buffer. */
  isExact: boolean
  /** Steps since the last checkpoint: their last attempt, and whether it has not ended. */
  readonly steps: Map<string, { readonly attempt: number; readonly isOpen: boolean }>
  readonly pauses: Map<string, string>
  /** Signal of the invocation that wrote last. */
  signal: InvocationSignal
  /** That invocation goes on without waiting for commits, and may never yield. */
  isEager: boolean
  /** A node failed in that invocation. */
  hasFailed: boolean
  failure: unknown
  /** Appends that are under way. */
  readonly pending: Set<Promise<unknown>>
}

export const openLine = (runId: string, given: Partial<RunBuffer>): RunBuffer => ({
  runId,
  seq: 0,
  toldSeq: given.seq ?? 0,
  outbox: [],
  isDue: false,
  events: 0,
  head: null,
  hasOwn: false,
  status: 'pending',
  isClosed: false,
  isExact: true,
  steps: new Map(),
  pauses: new Map(),
  signal: undefined,
  isEager: false,
  hasFailed: false,
  failure: undefined,
  pending: new Set(),
  ...given,
})

export interface BufferedEvent {
  readonly type: string
  readonly payload: Payload
  readonly runId?: string | undefined
  readonly source?: EventInput['source'] | undefined
  readonly eventId?: string | undefined
  readonly timestamp?: string | undefined
  /** Default: the newest checkpoint, which causes the events of its superstep. */
  readonly causationId?: string | null | undefined
  /** When the step began that this event ends, in milliseconds: end and duration are set when it is appended. */
  readonly beganMs?: number | undefined
}

/** Newest position that this process has seen. */
export interface LedgerWatermark {
  last: number
  /** Rises when another process may have written. */
  turn: number
}

interface AppendParts {
  readonly ledger: Ledger
  readonly watermark: LedgerWatermark
  readonly thread: string
  /** Time of events without a timestamp. Default: the time of the append. */
  readonly now?: (() => number) | undefined
}

/** Waits for the commit of what was handed to the ledger. */
export type Wait = () => Promise<unknown>
/** A promise only where something has to be read first: what is known here is handed over before the call returns. */
export type Handed = Wait | Promise<Wait>

export const nothing = (): Promise<unknown> => Promise.resolve()

/** Counts events in that go to the ledger in this turn at the latest, together with what comes until then. */
export function postTo(parts: AppendParts, line: RunBuffer, drafts: readonly BufferedEvent[]): Promise<void> {
  if (!line.isDue) {
    line.isDue = true
    setImmediate(() => {
      line.isDue = false
      flush(parts, line)
    })
  }
  line.seq += drafts.length
  line.events += drafts.length
  return new Promise((resolve, reject) => void line.outbox.push({ drafts, resolve, reject }))
}

/** Hands over what waits. */
export function flush(parts: AppendParts, line: RunBuffer): void {
  if (line.outbox.length > 0) appendTo(parts, line, [], line.toldSeq).catch(() => undefined)
}

/** The last event that waits. */
export const lastWaiting = (line: RunBuffer): BufferedEvent | undefined => line.outbox.at(-1)?.drafts.at(-1)

/** Takes back the last event that waits, for it to carry more. */
export function takeLast(line: RunBuffer): BufferedEvent | undefined {
  const last = line.outbox.at(-1)
  const draft = last?.drafts.at(-1)
  if (!last || !draft) return undefined
  last.drafts = last.drafts.slice(0, -1)
  line.seq--
  line.events--
  return draft
}

/**
 * Appends to a run, after its waiting events, without waiting for appends under way; resolves when committed. `ended` is
 * called on success and on failure, which saves a promise for each checkpoint.
 */
export function appendTo(
  { ledger, watermark, thread, now }: AppendParts,
  line: RunBuffer,
  more: readonly BufferedEvent[],
  expectedSeq: number,
  ended?: () => void,
): Promise<void> {
  const { outbox } = line
  line.outbox = []
  const events: EventInput[] = []
  for (const { drafts } of outbox) for (const draft of drafts) events.push(toInput(line, draft, now))
  for (const draft of more) {
    events.push(toInput(line, draft, now))
    if (draft.runId !== undefined) continue
    line.seq++
    line.events++
  }
  line.toldSeq = line.seq
  const { seq } = line
  // The ledger takes the call in this turn, so that the order of the calls is the order of the record.
  const appended = ledger.append(events, { expectedSeq, eager: line.isEager }).then(
    (stored) => {
      line.pending.delete(appended)
      for (let i = 0; i < stored.length; i++)
        if (stored[i]?.payload !== events[i]?.payload) line.isExact = false
      if (stored.at(-1)?.ledger.seq !== seq) line.failure ??= outOfStep(line.runId)
      noteTide(watermark, stored)
      for (const { resolve } of outbox) resolve()
      ended?.()
      return undefined
    },
    (error: unknown) => {
      line.pending.delete(appended)
      line.failure ??= error
      ended?.()
      const told = toConflict(line.failure, thread)
      for (const { reject } of outbox) reject(told)
      throw told
    },
  )
  line.pending.add(appended)
  return appended
}

function toInput(
  line: RunBuffer,
  { type, payload, runId, source = SOURCE, eventId, timestamp, causationId, beganMs }: BufferedEvent,
  now: AppendParts['now'],
): EventInput {
  const endedMs = beganMs === undefined ? undefined : Math.max(now?.() ?? Date.now(), beganMs)
  if (endedMs !== undefined) payload['durationMs'] = endedMs - (beganMs as number)
  return {
    eventType: type,
    correlationId: runId ?? line.runId,
    source,
    payload,
    eventId,
    timestamp: endedMs === undefined ? (timestamp ?? (now && isoText(now()))) : isoText(endedMs),
    causationId: causationId ?? line.head?.eventId ?? null,
  }
}

function noteTide(watermark: LedgerWatermark, stored: readonly ClewEvent[]): void {
  const first = stored[0]?.ledger.position ?? 0
  const last = stored.at(-1)?.ledger.position ?? 0
  if (last <= watermark.last) return
  if (first !== watermark.last + 1) watermark.turn++
  watermark.last = last
}

const outOfStep = (runId: string): ClewError =>
  new ClewError('wrong_seq', `Run ${runId} was written by somebody else`, 'Read it again before going on.', {
    runId,
  })
