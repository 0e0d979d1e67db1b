import type { Ports, Store } from '@clew/ledger'
import { createAppend } from './append.ts'
import { openConnection } from './connection.ts'
import { createCursors } from './cursors.ts'
import { createErasing } from './erase.ts'
import { createRunFinder } from './find-runs.ts'
import { createLeases } from './leases.ts'
import { createMemory } from './memory.ts'
import type { OpenDatabaseOptions } from './open-database.ts'
import { createOwnerLocks } from './owner-lock.ts'
import { createProgress } from './progress.ts'
import { createProjections } from './projections.ts'
import { createRetention } from './prune.ts'
import { createReader } from './read.ts'
import { createSearchIndex } from './search-index.ts'
import { createVault } from './vault.ts'

export type SqliteOptions = OpenDatabaseOptions

/** A ledger in one SQLite file, for any number of processes on one machine. */
export function openSqliteStore(path: string, ports: Ports, options: SqliteOptions = {}): Store {
  const connection = openConnection(path, ports, options)
  const { db, file, url, read, readSnapshot, watch } = connection
  const owner = `${process.pid}-${ports.randomHex(8)}`
  const locks = createOwnerLocks(file, owner)
  const append = createAppend(connection, ports)
  const reader = createReader(db)
  const runs = createRunFinder(db)
  const search = createSearchIndex(connection, ports, options)
  const progress = createProgress(connection, ports, options)
  const ownLease = db.prepare('SELECT 1 FROM leases WHERE owner = ? AND held = 1')

  return {
    url,
    leases: createLeases(connection, ports, owner, locks),
    cursors: createCursors(connection),
    projections: createProjections(connection),
    search: search.index,
    memory: createMemory(connection, ports),
    retention: createRetention(connection, append),
    erasure: createErasing(connection, ports, append, search.database),
    vault: createVault(connection),
    progress: progress.progress,
    write: (calls) => connection.write(() => append(calls)),
    findRun: (key) => read(() => runs.find(key)),
    listRuns: (filter) => readSnapshot(() => runs.list(filter)),
    findBelow: (workspace, runIds) => readSnapshot(() => runs.below(workspace, runIds)),
    readRun: (key, range) => read(() => reader.run(key, range)),
    readAll: (range) => read(() => reader.all(range)),
    findEvents: (workspace, eventId) => read(() => reader.byId(workspace, eventId)),
    findCaused: (workspace, eventIds) => read(() => reader.caused(workspace, eventIds)),
    readNodes: (ids) => read(() => reader.nodes(ids)),
    readSkeleton: (key, range) => read(() => reader.skeleton(key, range)),
    workspaces: () => read(() => reader.workspaces()),
    stats: () => read(() => reader.stats()),
    lastPosition: () => read(() => reader.lastPosition()),
    newestPosition: () => read(() => reader.lastPosition()),
    countAfter: (position) => read(() => reader.countAfter(position)),
    watch: watch.add,
    async close() {
      if (connection.isClosed) return
      search.close()
      progress.close()
      locks.release(() => ownLease.get(owner) !== undefined)
      connection.close()
    },
  }
}
