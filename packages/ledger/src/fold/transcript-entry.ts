import type { RunError, RunStatus } from './run-summary.ts'

interface EntryPlace {
  readonly seq: number
  readonly eventId: string
  readonly causationId: string | null
  readonly at: string
  readonly runId: string
  readonly stepId: string | null
  /** The payload was erased: that something stood here is all that is known. */
  readonly erased: boolean
}

export interface ToolOutcome {
  readonly seq: number
  readonly at: string
  readonly result: unknown
  readonly error: RunError | null
  readonly erased: boolean
}

export interface HumanAnswer {
  readonly seq: number
  readonly at: string
  readonly value: unknown
  readonly by: string | null
  readonly erased: boolean
}

/** Fields of each kind of entry beside its place. */
export interface EntryKinds {
  start: {
    readonly agent: string | null
    readonly input: unknown
    readonly parentRunId: string | null
  }
  message: {
    readonly role: string | null
    readonly name: string | null
    /** Text, or a list of content parts, as it was recorded. */
    readonly content: unknown
    readonly model: string | null
    readonly messageId: string | null
    readonly edited: boolean
    /** `ui`: what people saw in a chat product; `agent`: what went to and came from the model. */
    readonly channel: 'agent' | 'ui'
  }
  reasoning: {
    readonly content: unknown
    /** seq of the message or tool call that it led to and stands above. */
    readonly about: number | null
  }
  tool_call: {
    readonly toolCallId: string | null
    readonly name: string | null
    readonly arguments: unknown
    /** False when only the outcome was recorded. */
    readonly called: boolean
    /** Step that performed it, if that is known and another than the one in which a model made the call. */
    readonly performedBy: string | null
    /** Null while there is none. */
    readonly outcome: ToolOutcome | null
  }
  handoff: { readonly from: string | null; readonly to: string | null; readonly reason: string | null }
  decision: { readonly choice: unknown; readonly reason: string | null }
  question: {
    readonly pauseId: string | null
    readonly question: unknown
    readonly options: unknown
    /** False when only the answer was recorded. */
    readonly asked: boolean
    readonly answer: HumanAnswer | null
  }
  structured_output: { readonly value: unknown }
  child_run: { readonly childRunId: string; readonly name: string | null }
  failure: {
    readonly name: string | null
    readonly attempt: number
    readonly error: RunError
    /** Another attempt follows. */
    readonly retried: boolean
  }
  status: {
    readonly status: 'paused' | 'resumed' | 'interrupted' | 'blocked' | 'forked'
    readonly reason: string | null
  }
  end: {
    readonly status: 'completed' | 'failed' | 'stopped' | 'superseded'
    readonly output: unknown
    readonly error: RunError | null
    readonly reason: string | null
  }
}

export type EntryKind = keyof EntryKinds
/** A message, call or other entry of a transcript, in reading order. */
export type TranscriptEntry = {
  [K in EntryKind]: EntryPlace & { readonly kind: K } & EntryKinds[K]
}[EntryKind]
export type EntryOf<K extends EntryKind> = Extract<TranscriptEntry, { kind: K }>

/** V3: a run as a conversation. */
export interface Transcript {
  readonly runId: string | null
  readonly agent: string | null
  /** Null for a run without events. */
  readonly status: RunStatus | null
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly entries: readonly TranscriptEntry[]
  /** Events that have no place in a conversation: steps, state, checkpoints, unknown types. */
  readonly otherEvents: number
}
