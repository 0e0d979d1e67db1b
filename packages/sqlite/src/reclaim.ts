import type { DatabaseSync } from 'node:sqlite'

/** A millisecond or so, which is all that a writer waits. */
const STEP_PAGES = 16

const ROUNDS = 5
const FEW_FRAMES = 50

const left = (row: Record<string, unknown> | undefined): number =>
  Number(row?.['log']) - Number(row?.['checkpointed'])

/** What was written in so long is little, and its checkpoint short. */
const CHECKPOINT_MS = 200

export interface Reclaim {
  /** A small step; false when there is nothing left to give back. */
  step(): Promise<boolean>
  /**
   * Writes back what stands in the WAL, now and then and without a lock. Taking away changes many more pages than
   * writing does, and without this the next writer whose commit fills the WAL would wait for all of them.
   */
  checkpoint(): void
}

/**
 * Free pages go back to the file system in small steps, then what the WAL has grown by. Files have been made for it from
 * their first migration on (`auto_vacuum = INCREMENTAL`).
 */
export function createReclaim(db: DatabaseSync, transact: <T>(work: () => T) => Promise<T>): Reclaim {
  const free = db.prepare('PRAGMA freelist_count')
  const passive = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  let checkpointedMs = 0

  function checkpoint(): void {
    if (performance.now() - checkpointedMs < CHECKPOINT_MS) return
    passive.get()
    checkpointedMs = performance.now()
  }

  return {
    checkpoint,
    async step() {
      const pages = Number(free.get()?.['freelist_count'])
      if (pages > 0) {
        await transact(() => db.exec(`PRAGMA incremental_vacuum(${STEP_PAGES})`))
        checkpoint()
        return true
      }
      // Without standing in anybody's way, until little is left for the moment in which writers wait.
      for (let round = 0; round < ROUNDS && left(passive.get()) > FEW_FRAMES; round++);
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return false
    },
  }
}
