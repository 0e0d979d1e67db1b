import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { ClewError, yieldToEventLoop, type Ports } from '@clew/ledger'
import { isBusy, storeError } from './errors.ts'
import { createPresence } from './file-presence.ts'
import { openDatabase, type OpenDatabaseOptions, WAIT_MS } from './open-database.ts'
import { createRunRows, type RunRows } from './run-row.ts'
import { createWatch, type Watch } from './watch.ts'

/**
 * Time for which a busy lock is tried again with every turn of the event loop: most locks are held for less than a
 * timer sleeps.
 */
const EAGER_MS = 1.5

/** The connection of a store to its file, with its transactions. */
export interface Connection {
  readonly db: DatabaseSync
  readonly file: string
  readonly url: string
  readonly waitMs: number
  /** Rows of runs, for use inside `write`. */
  readonly runs: RunRows
  readonly watch: Watch
  /** Runs `work` as a write transaction, rolled back if it throws. `work` is synchronous: there is one connection. */
  write<T>(work: () => T): Promise<T>
  /** Runs `work`, which reads by one statement, or does not need one snapshot. */
  read<T>(work: () => T): Promise<T>
  /** Runs `work` on another file of the ledger, again while that file is locked; errors name the ledger. */
  retry<T>(file: string, work: () => T): Promise<T>
  /** Runs `work`, all of whose statements see the same snapshot. */
  readSnapshot<T>(work: () => T): Promise<T>
  readonly isClosed: boolean
  close(): void
}

export function openConnection(path: string, ports: Ports, options: OpenDatabaseOptions): Connection {
  const url = `sqlite:${path}`
  const file = resolve(path)
  const { waitMs = WAIT_MS } = options
  const db = openDatabase(file, url, options)
  const runs = createRunRows(db)
  const assertPresent = createPresence(file, url)
  const sql = {
    begin: db.prepare('BEGIN IMMEDIATE'),
    beginReading: db.prepare('BEGIN'),
    commit: db.prepare('COMMIT'),
    dataVersion: db.prepare('PRAGMA data_version'),
  }
  // Asked in every transaction; an object with a named field takes four times as long.
  sql.dataVersion.setReturnArrays(true)
  const watch = createWatch(sql.dataVersion)
  let cachedVersion: unknown
  let isClosed = false

  function assertOpen(): void {
    if (isClosed)
      throw new ClewError('closed', `The ledger ${url} is closed`, 'Open it again before using it.')
  }

  /**
   * Tries again while another process holds the lock, without blocking the event loop. After `EAGER_MS` it sleeps for a
   * short random time: the growing back-off of SQLite itself starves one of several busy writers for seconds. Reads wait
   * too: a file is locked for a moment while another process recovers it after a crash.
   */
  async function retry<T>(used: string, work: () => T): Promise<T> {
    const startedMs = performance.now()
    for (;;) {
      assertOpen()
      try {
        return work()
      } catch (error) {
        const waitedMs = performance.now() - startedMs
        if (!isBusy(error) || waitedMs > waitMs) throw storeError(url, error, used)
        await (waitedMs < EAGER_MS ? yieldToEventLoop(ports) : ports.sleep(Math.random() * 3))
      }
    }
  }

  const read = <T>(work: () => T): Promise<T> => retry(file, work)

  function transact<T>(work: () => T): T {
    sql.begin.run()
    try {
      // Changes with every commit of another connection.
      const version = sql.dataVersion.get()?.[0]
      if (version !== cachedVersion) runs.forget()
      cachedVersion = version
      const result = work()
      assertPresent()
      sql.commit.run()
      runs.trim()
      return result
    } catch (error) {
      runs.forget()
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  return {
    db,
    file,
    url,
    waitMs,
    runs,
    watch,
    async write(work) {
      const result = await read(() => transact(work))
      watch.notify()
      return result
    },
    read,
    retry,
    readSnapshot: (work) =>
      read(() => {
        sql.beginReading.run()
        try {
          return work()
        } finally {
          sql.commit.run()
        }
      }),
    get isClosed() {
      return isClosed
    },
    close() {
      isClosed = true
      watch.close()
      db.close()
    },
  }
}
