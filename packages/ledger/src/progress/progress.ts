import type { JsonValue } from '../json.ts'
import type { RunKey } from '../store/store.ts'

/**
 * Partial output of a step (T4): shown while the step works, never part of the ledger. A note carries all of it, so a
 * lost one does no harm: the next one of the same attempt replaces it.
 */
export interface ProgressNote {
  readonly runId: string
  readonly stepId: string
  readonly attempt: number
  readonly stepType: string
  /** Rises from note to note of an attempt; a lower one that comes late is dropped. */
  readonly version: number
  readonly content: JsonValue
  /** The producer's clock. */
  readonly at: string
}

/** A note as a store keeps it: redacted, its content as text. */
export interface StoredNote extends Omit<ProgressNote, 'content'> {
  readonly workspace: string
  readonly body: string
}

export interface ReadNotesOptions {
  readonly workspace?: string | undefined
  readonly runId?: string | undefined
  /** Cursor that the previous read returned; without it, all notes are read. */
  readonly after?: string | undefined
  readonly limit: number
}

/**
 * A small table beside the ledger, bounded, unchained, lost without harm. It may be emptied or deleted at any time:
 * a cursor of before then reads from the beginning.
 */
export interface ProgressStore {
  put(notes: readonly StoredNote[], nowMs: number): Promise<void>
  /** Notes that were put since, oldest change first. */
  read(options: ReadNotesOptions): Promise<{ readonly notes: readonly StoredNote[]; readonly cursor: string }>
  /** The notes of a run, or of one of its steps, are no longer needed. */
  clear(key: RunKey, stepId?: string): Promise<void>
  /** Calls `wake` after a put by anyone; it carries no data, and a missed one only makes a reader late. */
  watch(wake: () => void): () => void
}

/** The progress of one workspace. */
export interface Progress {
  /** Redacts, then replaces the notes of these attempts. Text is let go only as far as no secret can begin in it. */
  put(notes: readonly ProgressNote[]): Promise<void>
  read(options?: {
    readonly runId?: string | undefined
    readonly after?: string | undefined
    readonly limit?: number | undefined
  }): Promise<{ readonly notes: readonly ProgressNote[]; readonly cursor: string }>
  clear(runId: string, stepId?: string): Promise<void>
  watch(wake: () => void): () => void
}

/** A note older than this belongs to a step that is no longer running. */
export const NOTE_TTL_MS = 10 * 60_000
/** The most notes that a store keeps; the oldest go first. */
export const MAX_NOTES = 4000
/** The longest text of a note, in characters: of a longer one the end is kept. */
export const MAX_NOTE_CHARS = 65_536
