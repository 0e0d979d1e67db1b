import type { DatabaseSync } from 'node:sqlite'

/** A millisecond or so, which is all that a writer waits. */
const STEP_PAGES = 16

/** What was written in so long is little, and its checkpoint short. */
const CHECKPOINT_MS = 200
/** So often it is tried to come to the end of the WAL between two commits of others: four to six times are usual. */
const ROUNDS = 8

export interface Reclaim {
  /** A small step; false when there is nothing left to give back. Where others write, they keep their WAL. */
  step(isShared: boolean): Promise<boolean>
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
  const autocheckpoint = db.prepare('PRAGMA wal_autocheckpoint').get()?.['wal_autocheckpoint']
  const longFrames = Number(autocheckpoint) / 2
  let checkpointedMs = 0

  /**
   * A checkpoint during which somebody commits does not sync the file, and the WAL goes on growing: then whoever fills it
   * syncs all of that inside a commit. So a long WAL is written back again and again, each time what little was added
   * meanwhile, until nothing was: from there on it begins anew.
   */
  function writeBack(): void {
    for (let round = 0, before = 0; round < ROUNDS; round++) {
      const frames = Number(passive.get()?.['log'])
      if (frames < longFrames || frames === before) return
      before = frames
    }
  }

  function checkpoint(): void {
    if (performance.now() - checkpointedMs < CHECKPOINT_MS) return
    writeBack()
    checkpointedMs = performance.now()
  }

  return {
    checkpoint,
    async step(isShared) {
      const pages = Number(free.get()?.['freelist_count'])
      if (pages > 0) {
        await transact(() => db.exec(`PRAGMA incremental_vacuum(${STEP_PAGES})`))
        checkpoint()
        return true
      }
      writeBack()
      // Cutting it off holds the write lock for tens of milliseconds, and those who write would only fill it again.
      if (!isShared) db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return false
    },
  }
}
