import { ClewError, type ErrorCode } from '@clew/ledger'

type Told = readonly [ErrorCode, string, string]

const CANNOT_OPEN: Told = [
  'store_missing',
  'cannot be opened',
  'Check that the folder exists and that this user may use it.',
]

const RESULTS: Readonly<Record<number, Told>> = {
  5: [
    'store_locked',
    'is locked by another process',
    'Try again when that process is done; Clew itself waits up to 30 s.',
  ],
  6: ['store_locked', 'is locked by another connection', 'Try again when it is done.'],
  8: [
    'store_readonly',
    'cannot be written',
    'Give this user write permission to the file and its folder, or only read from it.',
  ],
  10: ['store_failed', 'met a disk error', 'Look at the disk; what was acknowledged before is committed.'],
  11: ['store_corrupt', 'is damaged', 'Restore it from a backup, or export what can still be read.'],
  13: [
    'store_full',
    'has no room left',
    'Free some disk space and append again; nothing of this group was written.',
  ],
  14: CANNOT_OPEN,
  23: [
    'store_readonly',
    'may not be used by this user',
    'Give this user permission to the file and its folder.',
  ],
  26: [
    'not_a_store',
    'is not a SQLite database',
    'Give the path of a Clew ledger, or of a file that does not exist yet.',
  ],
}

const OTHERWISE: Told = ['store_failed', 'could not be used', 'See the cause for details.']

/** By the system's own code, for files and folders that are made without SQLite. */
const SYSTEM: Readonly<Record<string, Told>> = {
  EACCES: CANNOT_OPEN,
  EPERM: CANNOT_OPEN,
  ENOENT: CANNOT_OPEN,
  ENOTDIR: CANNOT_OPEN,
  EEXIST: CANNOT_OPEN,
}

/** Result code of SQLite without its extension, or undefined for an error that is not SQLite's. */
export function resultOf(error: unknown): number | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'errcode') : undefined
  return typeof code === 'number' ? code & 255 : undefined
}

export const isBusy = (error: unknown): boolean => resultOf(error) === 5

/** An insert that the append-only triggers, or a unique index, refused: what it brings stands already. */
export const isRepeated = (error: unknown): boolean =>
  resultOf(error instanceof ClewError ? error.cause : error) === 19

const systemCodeOf = (error: unknown): string => {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : ''
}

/** One clear sentence for what went wrong with the file; other errors pass through. */
export function storeError(url: string, error: unknown): unknown {
  if (error instanceof ClewError) return error
  const result = resultOf(error)
  const system = systemCodeOf(error)
  const told = result === undefined ? SYSTEM[system] : (RESULTS[result] ?? OTHERWISE)
  if (!told) return error
  const [code, what, hint] = told
  const fields = result === undefined ? { url, system } : { url, sqlite: result }
  return new ClewError(code, `The ledger ${url} ${what}`, hint, fields, error)
}
