import { resolve } from 'node:path'
import { type AppendOutcome, ClewError, nextTurn, type Ports, type Store } from '@clew/ledger'
import { createAppender } from './append.ts'
import { createCursors } from './cursors.ts'
import { isBusy, isRepeated, storeError } from './errors.ts'
import { createErasing } from './erase.ts'
import { createPresence } from './file-presence.ts'
import { createTailFold } from './fold-tail.ts'
import { createLeases } from './leases.ts'
import { findBelow } from './find-below.ts'
import { findRun, listRuns } from './list-runs.ts'
import { createMemory } from './memory.ts'
import { openDatabase, type OpenDatabaseOptions, WAIT_MS } from './open-database.ts'
import { createOwnerLocks } from './owner-lock.ts'
import { createProgress } from './progress.ts'
import { createProjections } from './projections.ts'
import { createRetention } from './prune.ts'
import { createReader } from './read.ts'
import { createReclaim } from './reclaim.ts'
import { createSearchIndex } from './search-index.ts'
import { createStorage } from './storage.ts'
import { createVault } from './vault.ts'
import { createWatch } from './watch.ts'

export type SqliteOptions = OpenDatabaseOptions

/** So long a lock is asked for with every turn of the event loop: a timer would sleep through most of them. */
const EAGER_MS = 1.5

/** A ledger in one SQLite file, for any number of processes on one machine. */
export function openSqliteStore(path: string, ports: Ports, options: SqliteOptions = {}): Store {
  const url = `sqlite:${path}`
  const file = resolve(path)
  const { waitMs = WAIT_MS } = options
  const db = openDatabase(file, url, options)
  const owner = `${process.pid}-${ports.randomHex(8)}`
  const locks = createOwnerLocks(file, owner)
  const appender = createAppender(db, ports)
  const foldTail = createTailFold(db)
  const reader = createReader(db, foldTail)
  const find = findRun(db, foldTail)
  const below = findBelow(db, foldTail)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const beginReading = db.prepare('BEGIN')
  const commit = db.prepare('COMMIT')
  const dataVersion = db.prepare('PRAGMA data_version')
  // Asked in every transaction, where an object with a name in it takes four times as long.
  dataVersion.setReturnArrays(true)
  const watch = createWatch(dataVersion)
  const named = db.prepare('SELECT 1 FROM leases WHERE owner = ? AND held = 1')
  const assertPresent = createPresence(file, url)
  let seen: unknown
  let closed = false

  function assertOpen(): void {
    if (closed) throw new ClewError('closed', `The ledger ${url} is closed`, 'Open it again before using it.')
  }

  /**
   * Waits for a lock without blocking the event loop. Most are held for less than the shortest sleep, so for a moment it
   * is tried with every turn; then the wait is short and random, for SQLite's own growing back-off starves one of several
   * busy writers for seconds.
   */
  async function unlocked<T>(work: () => T): Promise<T> {
    const startedMs = performance.now()
    for (;;) {
      assertOpen()
      try {
        return work()
      } catch (error) {
        const waitedMs = performance.now() - startedMs
        if (!isBusy(error) || waitedMs > waitMs) throw storeError(url, error, file)
        await (waitedMs < EAGER_MS ? nextTurn(ports) : ports.sleep(Math.random() * 3))
      }
    }
  }

  /** From the beginning of a transaction to its end there is no wait, or another one of this connection would begin inside it. */
  const transact = <T>(work: () => T): Promise<T> =>
    unlocked(() => {
      begin.run()
      return complete(work)
    })

  /** For work that looks for events in `events`, or takes them away. */
  const transactOnTables = <T>(work: () => T): Promise<T> =>
    transact(() => {
      appender.moveOn()
      return work()
    })

  function complete<T>(work: () => T): T {
    try {
      const version = dataVersion.get()?.[0]
      if (version !== seen) appender.forget()
      seen = version
      const result = work()
      assertPresent()
      commit.run()
      return result
    } catch (error) {
      appender.forget()
      if (db.isTransaction) db.exec('ROLLBACK')
      throw storeError(url, error, file)
    }
  }

  /** Reading waits too: for a moment the file is locked while another process recovers it after a crash. */
  const reading = unlocked

  /** The same for reads of several rows that belong together. */
  const readingAtOnce = <T>(work: () => T): Promise<T> =>
    reading(() => {
      beginReading.run()
      try {
        return work()
      } finally {
        commit.run()
      }
    })

  /** Nothing hangs on it: what could not be written is folded by whoever opens the ledger next. */
  async function settleAll(): Promise<void> {
    if (!appender.isBehind) return
    try {
      await transactOnTables(() => appender.settle())
    } catch (error) {
      if (!(error instanceof ClewError)) throw error
    }
  }

  function ringing<T>(result: T): T {
    watch.ring()
    return result
  }

  const waiting = db.prepare('SELECT 1 FROM inbox WHERE position <= ? LIMIT 1')
  const search = createSearchIndex({
    file,
    url,
    ports,
    options,
    assertOpen,
    async moveOn(position) {
      if (await reading(() => waiting.get(position))) await transactOnTables(() => undefined)
    },
  })
  const progress = createProgress({ file, url, ports, options, assertOpen })
  const transactLease = <T>(work: () => T): Promise<T> =>
    transact(() => {
      appender.forgetLeases()
      return work()
    })

  return {
    url,
    leases: createLeases({ db, ports, owner, locks, transact: transactLease, reading }),
    cursors: createCursors({ db, transact, reading }),
    projections: createProjections({
      db,
      transact: transactOnTables,
      reading: readingAtOnce,
      foldTail,
      settle: appender.settle,
      forget: () => appender.forget(),
    }),
    search: search.index,
    memory: createMemory({ db, ports, transact, reading: readingAtOnce }),
    retention: createRetention({
      db,
      transact: transactOnTables,
      reading,
      foldTail,
      append: (call) => appender.apply([call], 'looked up')[0] as AppendOutcome,
      settle: appender.settle,
      forgetRun: appender.forgetRun,
      forgetNodes: appender.forgetNodes,
      ring: watch.ring,
      reclaim: createReclaim(db, transact),
      storage: createStorage(db, file),
    }),
    erasure: createErasing({
      db,
      file,
      ports,
      waitMs,
      transact: transactOnTables,
      reading,
      foldTail,
      append: (call) => appender.apply([call], 'looked up')[0] as AppendOutcome,
      settle: appender.settle,
      forget: () => appender.forget(),
      ring: watch.ring,
      search: search.database,
    }),
    vault: createVault({ db, transact, reading: readingAtOnce }),
    progress: progress.progress,
    write: (calls) =>
      transact(() => appender.apply(calls, 'trusted')).then(ringing, (error: unknown) => {
        // Rare where a run is leased, so it is found by the refusal of the index and not by asking first.
        if (!isRepeated(error)) throw error
        return transact(() => appender.apply(calls, 'looked up')).then(ringing)
      }),
    findRun: (key) => readingAtOnce(() => find(key)),
    listRuns: (filter) => readingAtOnce(() => listRuns(db, foldTail, filter)),
    findBelow: (workspace, runIds) => readingAtOnce(() => below(workspace, runIds)),
    readRun: (key, range) => reading(() => reader.run(key, range)),
    readAll: (range) => reading(() => reader.all(range)),
    findEvents: (workspace, eventId) => reading(() => reader.byId(workspace, eventId)),
    findCaused: (workspace, eventIds) => reading(() => reader.caused(workspace, eventIds)),
    readNodes: (ids) => reading(() => reader.nodes(ids)),
    readSkeleton: (key, range) => readingAtOnce(() => reader.skeleton(key, range)),
    workspaces: () => reading(() => reader.workspaces()),
    stats: () => reading(() => reader.stats()),
    lastPosition: () => reading(() => reader.lastPosition()),
    newestPosition: () => reading(() => reader.lastPosition()),
    countAfter: (position) => reading(() => reader.countAfter(position)),
    watch: watch.add,
    async close() {
      if (closed) return
      await settleAll()
      closed = true
      watch.close()
      search.close()
      progress.close()
      locks.release(() => named.get(owner) !== undefined)
      db.close()
    },
  }
}
