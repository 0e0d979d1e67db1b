import type { ErasableEvent } from '../catalogue/catalogue.ts'
import type { Conversation } from './conversation.ts'
import { isErased, stepOf } from './fields.ts'
import type { HappenedOrder, Moment } from './happened-order.ts'
import type { Pairing } from './pairing.ts'
import type { RunProgress } from './run-progress.ts'
import type {
  EntryKind,
  EntryKinds,
  EntryOf,
  HumanAnswer,
  ToolOutcome,
  TranscriptEntry,
} from './transcript-entry.ts'

/** The entry at an index, so that a later event can put a fuller one in its place. */
export type Slot = number
export interface Orphan<Outcome> {
  readonly slot: Slot
  readonly outcome: Outcome
}

/**
 * Changed in place by `apply`, so that an event costs the same in a long run: keep views, not states. Entries are
 * replaced, never changed, so a view that was taken earlier stays what it was.
 */
export interface TranscriptState {
  readonly progress: RunProgress
  readonly entries: (TranscriptEntry | undefined)[]
  readonly tools: Pairing<Slot, Orphan<ToolOutcome>>
  readonly questions: Pairing<Slot, Orphan<HumanAnswer>>
  readonly messages: Map<string, Slot>
  readonly childRuns: Set<string>
  /** Calls of effects by step and attempt, and the steps whose reasoning or messages were recorded explicitly. */
  readonly effects: Map<string, Slot>
  readonly spoken: Set<string>
  /** Messages by content, whichever record they came from. */
  readonly conversation: Conversation
  /** Calls of models without a result, by the name of the tool. */
  readonly openCalls: Map<string, Slot[]>
  /** Requests to models under way, each with the list of what was said in it so far. */
  readonly modelCalls: Map<string, string[]>
  /** Ends of steps of the superstep under way, by step id: what its operations refer to. */
  readonly written: Map<string, ErasableEvent<'execution.step_completed'>>
  /** The end recorded by `execution.completed`: the end of the run itself replaces it. */
  completed: Slot | undefined
  /** Sorts the entries of an exported run by the time at which they happened; undefined before its first event. */
  happened: HappenedOrder | null | undefined
  /** For an exported run: the time of occurrence of each slot. */
  readonly moments: Moment[]
  /** For an exported run: messages that instruct, of which there are few. */
  readonly instructions: Slot[]
  otherEvents: number
}

export function entryOf<K extends EntryKind>(event: ErasableEvent, kind: K, said: EntryKinds[K]): EntryOf<K> {
  const { eventId, causationId, timestamp, correlationId, ledger } = event
  const entry = {
    kind,
    seq: ledger.seq,
    eventId,
    causationId,
    at: timestamp,
    runId: correlationId,
    stepId: stepOf(event).stepId,
    erased: isErased(event),
    ...said,
  }
  return entry as unknown as EntryOf<K>
}
