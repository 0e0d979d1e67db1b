import type { Ports, Store, StoreInfo } from '@clew/ledger'
import { openConnection } from './connection.ts'
import { createDisk } from './disk.ts'
import { createRunFinder } from './find-runs.ts'
import { createInfo } from './info.ts'
import { createLeases } from './leases.ts'
import { createMemory } from './memory.ts'
import type { OpenDatabaseOptions } from './open-database.ts'
import { createOwnerLocks } from './owner-lock.ts'
import { createProgress } from './progress.ts'
import { createRawRows } from './raw-rows.ts'
import { createReader } from './read.ts'
import { createSearchIndex } from './search-index.ts'
import { createSlots } from './slots.ts'
import { createValues } from './values.ts'
import { createVaultReader } from './vault.ts'
import { createWrite } from './write.ts'

export type SqliteOptions = OpenDatabaseOptions

/** A ledger in one SQLite file, for any number of processes on one machine. */
export function openSqliteStore(path: string, ports: Ports, options: SqliteOptions = {}): Store {
  const connection = openConnection(path, ports, options)
  const { db, file, url, read, readSnapshot, watch } = connection
  const owner = `${process.pid}-${ports.randomHex(8)}`
  const locks = createOwnerLocks(file, owner)
  const search = createSearchIndex(connection, ports, options)
  const progress = createProgress(connection, ports, options)
  const write = createWrite(connection, ports, search.exists)
  const reader = createReader(db)
  const findRuns = createRunFinder(db)
  const readVault = createVaultReader(db)
  const facts = createInfo(connection)
  const ownLease = db.prepare('SELECT 1 FROM leases WHERE owner = ? AND held = 1')

  return {
    url,
    write: (change) =>
      connection.write(() => {
        const startedMs = performance.now()
        const applied = write(change)
        return { ...applied, tookMs: performance.now() - startedMs }
      }),
    readRun: (key, range) => read(() => reader.run(key, range)),
    readAll: (range) => read(() => reader.all(range)),
    countAfter: (position) => read(() => reader.countAfter(position)),
    findEvents: (query) => read(() => reader.find(query)),
    findRuns: (query) => readSnapshot(() => findRuns(query)),
    readSteps: (key, range) => read(() => reader.steps(key, range)),
    readVault: (query) => read(() => readVault(query)),
    info: (...keys) =>
      read(
        () =>
          Object.fromEntries(keys.map((key) => [key, facts[key]()])) as Pick<
            StoreInfo,
            (typeof keys)[number]
          >,
      ),
    watch: watch.add,
    values: createValues(connection),
    leases: createLeases(connection, ports, owner, locks),
    slots: createSlots(connection),
    rows: createRawRows(connection),
    disk: createDisk(connection, ports, search.database, options.readOnly),
    search: search.index,
    memory: createMemory(connection, ports),
    progress: progress.progress,
    async close() {
      if (connection.isClosed) return
      search.close()
      progress.close()
      locks.release(() => ownLease.get(owner) !== undefined)
      connection.close()
    },
  }
}
