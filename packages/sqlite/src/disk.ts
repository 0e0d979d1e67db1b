import type { DatabaseSync } from 'node:sqlite'
import type { Disk, Ports } from '@clew/ledger'
import type { Connection } from './connection.ts'

/** Pages that one step gives back: about a millisecond, for which a writer waits. */
const STEP_PAGES = 16
/** Pages that one statement of a scrub gives back. */
const SCRUB_PAGES = 2000
/** Time between two checkpoints: little is written in it, so each is short. */
const CHECKPOINT_MS = 200
/** Attempts to reach the end of the WAL between two commits of others; four to six are usual. */
const ROUNDS = 8
const STILL_READ =
  'Nothing of it can be read any more, but others still read an older state of the file from its WAL. Let them end, and erase the same again: then nothing is left of it.'

/** Upkeep of the file and its WAL. `searchIndex` is the database of the index, if there is one. */
export function createDisk(
  { db, waitMs, read, write }: Pick<Connection, 'db' | 'waitMs' | 'read' | 'write'>,
  ports: Pick<Ports, 'sleep'>,
  searchIndex: () => DatabaseSync | undefined,
  /** A reader leaves the WAL to those who write. */
  isReadOnly = false,
): Disk {
  const sql = {
    freePages: db.prepare('PRAGMA freelist_count'),
    checkpoint: db.prepare('PRAGMA wal_checkpoint(PASSIVE)'),
  }
  const longFrames = Number(db.prepare('PRAGMA wal_autocheckpoint').get()?.['wal_autocheckpoint']) / 2
  let flushedMs = 0

  /**
   * A checkpoint during which another process commits does not sync the file, and the WAL keeps growing: then the writer
   * that fills it syncs all of that inside its commit. So a long WAL is written back repeatedly, each time the little
   * that was added in the meantime, until nothing was: then it starts again from its beginning.
   */
  function writeBack(): void {
    for (let round = 0, before = 0; round < ROUNDS; round++) {
      const frames = Number(sql.checkpoint.get()?.['log'])
      if (frames < longFrames || frames === before) return
      before = frames
    }
  }

  function flush(): void {
    if (isReadOnly || performance.now() - flushedMs < CHECKPOINT_MS) return
    writeBack()
    flushedMs = performance.now()
  }

  /** Empties the WAL; false if readers of an older state still keep it after `waitMs`. */
  async function truncateWal(database: DatabaseSync): Promise<boolean> {
    const deadline = performance.now() + waitMs
    for (;;) {
      const done = await read(() => database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get())
      if (done?.['busy'] === 0) return true
      if (performance.now() > deadline) return false
      await ports.sleep(5 + Math.random() * 20)
    }
  }

  /** Gives all free pages back to the file system, some at a time. They are empty already (`secure_delete`). */
  async function vacuum(database: DatabaseSync): Promise<void> {
    const freePages = database.prepare('PRAGMA freelist_count')
    const reclaim = database.prepare(`PRAGMA incremental_vacuum(${SCRUB_PAGES})`)
    while ((await read(() => Number(freePages.get()?.['freelist_count']))) > 0)
      await read(() => reclaim.all())
  }

  return {
    pace: { batchMs: 0.8, rest: 7 },
    flush,
    async reclaim(isShared) {
      if (Number(sql.freePages.get()?.['freelist_count']) > 0) {
        await write(() => db.exec(`PRAGMA incremental_vacuum(${STEP_PAGES})`))
        flush()
        return true
      }
      writeBack()
      // Truncating holds the write lock for tens of milliseconds, and other writers would only fill the WAL again.
      if (!isShared) db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return false
    },
    async scrub({ rewrite }) {
      const index = searchIndex()
      let isEmpty = true
      for (const database of index ? [db, index] : [db]) {
        await vacuum(database)
        // Rows of the index are deleted one by one, which moves others within its pages and leaves copies of them there.
        if (rewrite || database === index) await read(() => database.exec('VACUUM'))
        isEmpty = (await truncateWal(database)) && isEmpty
      }
      return { unfinished: isEmpty ? null : STILL_READ }
    },
  }
}
