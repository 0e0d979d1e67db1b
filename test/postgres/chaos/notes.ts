import { existsSync, openSync, readFileSync, writeSync } from 'node:fs'
import { ClewError, type ErrorCode, type EventInput } from '@clew/ledger'

export type Sent = EventInput & { readonly eventId: string }

/** Where an event was said to be. */
export interface Acknowledged {
  readonly eventId: string
  readonly runId: string
  readonly seq: number
  readonly position: number
  readonly hash: string
}

/** One line of what a process of the fault run has noted; each is in its file before the process goes on. */
export type Note =
  /** Before the call. What has an epoch is not sent again by others. */
  | { readonly intent: readonly Sent[]; readonly epoch?: number | undefined }
  | { readonly ack: readonly Acknowledged[] }
  /** The store said no: by its code, and the SQLSTATE behind it. */
  | { readonly refused: ErrorCode; readonly state: string }
  | { readonly stale: string }
  | { readonly followed: readonly number[] }
  /** An effect was carried out. */
  | { readonly outside: string; readonly attempt: number }
  | { readonly failed: string }

export function openNotes(file: string): (note: Note) => void {
  const out = openSync(file, 'a')
  // Whoever started this process is gone, and nobody will read the notes.
  process.stdin.once('end', () => process.exit(1)).resume()
  return (note) => void writeSync(out, `${JSON.stringify(note)}\n`)
}

export function readNotes(file: string): Note[] {
  if (!existsSync(file)) return []
  const whole = readFileSync(file, 'utf8').split('\n')
  // A line that was cut by the kill was not said.
  whole.pop()
  return whole.map((line) => JSON.parse(line) as Note)
}

/** What the store may say while faults rage; then the same is sent again. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'store_unreachable',
  'store_failed',
  'store_readonly',
  'store_full',
  'store_locked',
])

/** The refusal as a note; an error that no fault explains is thrown on. */
export function refusalOf(error: unknown): Note {
  if (!(error instanceof ClewError) || !PASSING.has(error.code)) throw error
  return { refused: error.code, state: String(error.fields['postgres'] ?? '') }
}
