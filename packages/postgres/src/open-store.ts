import { ClewError, type Ports, type Store } from '@clew/ledger'
import { createAppender } from './append.ts'
import { createCursors } from './cursors.ts'
import { createErasing } from './erase.ts'
import { createLeases } from './leases.ts'
import { findBelow, findRun, listRuns } from './find-runs.ts'
import { createMemory } from './memory.ts'
import { openDatabase, type OpenDatabaseOptions, WAIT_MS } from './open-database.ts'
import { createOwnerLock } from './owner-lock.ts'
import { createProgress } from './progress.ts'
import { createProjections } from './projections.ts'
import { createRetention } from './prune.ts'
import { createReader } from './read.ts'
import { createSearchIndex } from './search-index.ts'
import { createVault } from './vault.ts'
import { createWatch } from './watch.ts'

export interface PostgresOptions extends OpenDatabaseOptions {
  /** Added to the database's time where leases are judged, for tests that turn the clock. */
  readonly aheadMs?: (() => number) | undefined
}

/** A ledger in a PostgreSQL database, for any number of processes on any number of machines. */
export async function openPostgresStore(
  address: string,
  ports: Ports,
  options: PostgresOptions = {},
): Promise<Store> {
  const { waitMs = WAIT_MS, aheadMs } = options
  const database = await openDatabase(address, options)
  const { url, schema, reading } = database
  const owner = `${process.pid}-${ports.randomHex(8)}`
  const lock = createOwnerLock(database, owner)
  const appender = createAppender({ database, ports, waitMs })
  const watch = createWatch(database, ports)
  const noteWatch = createWatch(database, ports, '_progress')
  const reader = createReader({ sql: reading, heldBack: watch.heldBack })
  let closed = false

  function assertOpen(): void {
    if (closed) throw new ClewError('closed', `The ledger ${url} is closed`, 'Open it again before using it.')
  }

  return {
    url,
    leases: createLeases({ sql: database, owner, lock, forget: appender.forget, aheadMs }),
    cursors: createCursors(database),
    projections: createProjections({ db: database, forget: appender.forget }),
    search: createSearchIndex({ db: database, reading, ports }),
    memory: createMemory(database, reading),
    progress: createProgress({ sql: database, reading, watch: noteWatch, schema, assertOpen }),
    retention: createRetention({ db: database, reading, appender, ring: watch.ring }),
    erasure: createErasing({ db: database, reading, appender, ports, waitMs, ring: watch.ring }),
    vault: createVault(database, reading),
    async write(calls) {
      assertOpen()
      const outcomes = await appender.write(calls)
      watch.ring()
      return outcomes
    },
    findRun: (key) => findRun(reading, key),
    listRuns: (filter) => listRuns(reading, filter),
    findBelow: (workspace, runIds) => findBelow(reading, workspace, runIds),
    readRun: reader.run,
    readAll: reader.all,
    findEvents: reader.byId,
    findCaused: reader.caused,
    readNodes: reader.nodes,
    readSkeleton: reader.skeleton,
    workspaces: reader.workspaces,
    stats: reader.stats,
    lastPosition: reader.lastPosition,
    newestPosition: reader.newestPosition,
    countAfter: reader.countAfter,
    watch: watch.add,
    async close() {
      if (closed) return
      closed = true
      await Promise.all([watch.close(), noteWatch.close()])
      await lock.release()
      await database.close()
    },
  }
}
