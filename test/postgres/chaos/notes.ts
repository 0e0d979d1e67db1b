import { existsSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs'
import { ClewError, type ErrorCode, type EventInput } from '@clew/ledger'

export type Sent = EventInput & { readonly eventId: string }

/** Where an acknowledgement placed an event. */
export interface Acknowledged {
  readonly eventId: string
  readonly runId: string
  readonly seq: number
  readonly position: number
  readonly hash: string
}

/** One line of a process's notes; it is in the file before the process continues. */
export type Note =
  /** Before the call. Events under an epoch are not sent again by a replacement. */
  | { readonly intent: readonly Sent[]; readonly epoch?: number | undefined }
  | { readonly ack: readonly Acknowledged[] }
  /** The store refused: error code and SQLSTATE. */
  | { readonly refused: ErrorCode; readonly state: string }
  | { readonly stale: string }
  | { readonly followed: readonly number[] }
  /** An effect was carried out. */
  | { readonly outside: string; readonly attempt: number }
  | { readonly failed: string }

export function openNotes(file: string): (note: Note) => void {
  // A kill may cut the last line of a follower, which continues in the same file.
  if (existsSync(file)) truncateSync(file, readFileSync(file).lastIndexOf('\n') + 1)
  const out = openSync(file, 'a')
  // The process that started this one has ended, so its notes will not be read.
  process.stdin.once('end', () => process.exit(1)).resume()
  return (note) => void writeSync(out, `${JSON.stringify(note)}\n`)
}

/**
 * Calls `stop` on SIGTERM, and reports to the crew that it may be sent: before this call SIGTERM ends the process, and a
 * writer would never send again what the one before it left.
 */
export function onStop(stop: () => void): void {
  process.once('SIGTERM', stop)
  process.send?.('ready')
}

/** Every complete line; one that was cut by a kill is not counted. */
export function readNotes(file: string): Note[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  lines.pop()
  return lines.map((line) => JSON.parse(line) as Note)
}

/** Errors of a store under faults, after which the same events are sent again. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'store_unreachable',
  'store_failed',
  'store_readonly',
  'store_full',
  'store_locked',
])

/** The refusal as a note. Throws an error that no fault explains. */
export function refusalOf(error: unknown): Note {
  if (!(error instanceof ClewError) || !PASSING.has(error.code)) throw error
  return { refused: error.code, state: String(error.fields['postgres'] ?? '') }
}
