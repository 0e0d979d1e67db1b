import { closeSync, openSync, statSync } from 'node:fs'

/**
 * Makes an empty file before SQLite opens it: a new ledger is its owner's alone, and a file beside a ledger has the
 * ledger's mode as far as the umask allows, as SQLite gives it to -wal and -shm. A file that is there already stays as
 * it is and is not opened: closing it would free the locks that SQLite holds on it in this process.
 */
export function makeFile(path: string, ledger?: string): void {
  const mode = ledger === undefined ? 0o600 : statSync(ledger).mode & 0o777
  try {
    closeSync(openSync(path, 'wx', mode))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
