import { statSync } from 'node:fs'
import { ClewError } from '@clew/ledger'

/** Shortest time between two looks. A look with every commit costs 7 % of a single record, one in 10 ms under 1 %. */
const LOOK_MS = 10

/** The inode is not given to another file while this one is open. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}

/**
 * Asserts that the database and its WAL, as they were opened, still lie under their names. SQLite goes on writing to
 * a deleted or replaced file, but no process that opens the ledger later finds what was written. Made when SQLite has
 * both open.
 */
export function createPresence(file: string, url: string): () => void {
  const paths = [file, `${file}-wal`]
  const opened = paths.map(identityOf)
  const isThere = (path: string, at: number): boolean =>
    opened[at] !== undefined && opened[at] === identityOf(path)
  let lookedMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = performance.now()
    if (nowMs - lookedMs < LOOK_MS) return
    if (!paths.every(isThere)) throw gone(url)
    lookedMs = nowMs
  }
}

const gone = (url: string): ClewError =>
  new ClewError(
    'store_missing',
    `The file of the ledger ${url}, or its -wal, was deleted, moved or replaced while it was open`,
    'Put it back if it is missing, close the ledger and open it again; nothing of this group was written.',
    { url },
  )
