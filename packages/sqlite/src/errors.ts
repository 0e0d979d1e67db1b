import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { ClewError, type ErrorCode } from '@clew/ledger'

type ErrorText = readonly [ErrorCode, string, string]

const CANNOT_OPEN: ErrorText = [
  'store_missing',
  'cannot be opened',
  'Check that the folder exists and that this user may use it.',
]

const READ_ONLY_DISK: ErrorText = [
  'store_readonly',
  'lies on a file system that can only be read',
  'Mount it for writing, or only read from it.',
]
const TOO_MANY_FILES: ErrorText = [
  'store_failed',
  'needs another file, and too many files are open',
  'Close some, or raise the limit of the process (ulimit -n), and try again.',
]
const FULL: ErrorText = [
  'store_full',
  'has no room left',
  'Free some disk space and append again; nothing of this group was written.',
]

const RESULTS: Readonly<Record<number, ErrorText>> = {
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
  13: FULL,
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

const OTHERWISE: ErrorText = ['store_failed', 'could not be used', 'See the cause for details.']

/** Errors of the operating system by code, for files and folders made without SQLite. */
const SYSTEM: Readonly<Record<string, ErrorText>> = {
  EACCES: CANNOT_OPEN,
  EPERM: CANNOT_OPEN,
  ENOENT: CANNOT_OPEN,
  ENOTDIR: CANNOT_OPEN,
  EEXIST: CANNOT_OPEN,
  EROFS: READ_ONLY_DISK,
  EMFILE: TOO_MANY_FILES,
  ENFILE: TOO_MANY_FILES,
  ENOSPC: FULL,
  EDQUOT: FULL,
}

/** Result code of SQLite without its extension, or undefined for an error that is not SQLite's. */
export function resultOf(error: unknown): number | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'errcode') : undefined
  return typeof code === 'number' ? code & 255 : undefined
}

export const isBusy = (error: unknown): boolean => resultOf(error) === 5

const codeOf = (error: unknown): string => {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : ''
}

/** Results and codes behind which another reason may stand: SQLite hands on nothing of what the system answered. */
const VAGUE: ReadonlySet<number | string> = new Set([8, 10, 14, 'ENOENT'])

/** The reason that the system gives when it is asked once more: EROFS, EMFILE, ENFILE or none. */
function askSystem(file: string): string | undefined {
  let folder = dirname(file)
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  const isTelling = (code: string): boolean => ['EROFS', 'EMFILE', 'ENFILE'].includes(code)
  return [
    () => accessSync(existsSync(file) ? file : folder, constants.W_OK),
    // Never the file itself: closing it would free the locks that SQLite holds on it in this process.
    () => closeSync(openSync(folder, 'r')),
  ]
    .map(failureOf)
    .find(isTelling)
}

function failureOf(work: () => void): string {
  try {
    work()
    return ''
  } catch (error) {
    return codeOf(error)
  }
}

/** One clear sentence for what went wrong with a file of the ledger; other errors pass through. */
export function storeError(url: string, error: unknown, file: string, ask = askSystem): unknown {
  if (error instanceof ClewError) return error
  const sqlite = resultOf(error)
  const code = codeOf(error)
  if (sqlite === undefined && !SYSTEM[code]) return error
  const asked = VAGUE.has(sqlite ?? code) ? ask(file) : undefined
  const system = asked ?? (sqlite === undefined ? code : undefined)
  const [clewCode, what, hint] = SYSTEM[system ?? ''] ?? RESULTS[sqlite ?? 0] ?? OTHERWISE
  return new ClewError(clewCode, `The ledger ${url} ${what}`, hint, { url, sqlite, system }, error)
}
