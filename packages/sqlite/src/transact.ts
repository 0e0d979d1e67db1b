import type { DatabaseSync } from 'node:sqlite'

/** Runs `work` as a write transaction of a file beside the ledger, rolled back if it throws. */
export function transact<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
