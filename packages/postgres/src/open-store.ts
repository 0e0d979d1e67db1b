import { ClewError, type Ports, type Store, type StoreInfo } from '@clew/ledger'
import { createDisk } from './disk.ts'
import { createRunFinder } from './find-runs.ts'
import { createInfo } from './info.ts'
import { createLeases } from './leases.ts'
import { createMemory } from './memory.ts'
import { openDatabase, type OpenDatabaseOptions, WAIT_MS } from './open-database.ts'
import { createOwnerLock } from './owner-lock.ts'
import { createProgress } from './progress.ts'
import { createRawRows } from './raw-rows.ts'
import { createReader } from './read.ts'
import { createSearchIndex } from './search-index.ts'
import { createSlots } from './slots.ts'
import { createValues } from './values.ts'
import { createVaultReader } from './vault.ts'
import { createWatch } from './watch.ts'
import { createWriter } from './write.ts'

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
  const writer = createWriter({ database, ports, waitMs })
  const watch = createWatch(database, ports)
  const noteWatch = createWatch(database, ports, '_progress')
  const reader = createReader({ sql: reading, heldBack: watch.heldBack })
  const facts = createInfo(reading)
  let closed = false

  function assertOpen(): void {
    if (closed) throw new ClewError('closed', `The ledger ${url} is closed`, 'Open it again before using it.')
  }

  return {
    url,
    async write(change) {
      assertOpen()
      const written = await writer.write(change)
      watch.notify()
      return written
    },
    readRun: reader.run,
    readAll: reader.all,
    countAfter: reader.countAfter,
    findEvents: reader.find,
    findRuns: createRunFinder(reading),
    readSteps: reader.steps,
    readVault: createVaultReader(reading),
    async info(...keys) {
      const found = await Promise.all(keys.map(async (key) => [key, await facts[key]()] as const))
      return Object.fromEntries(found) as Pick<StoreInfo, (typeof keys)[number]>
    },
    watch: watch.add,
    values: createValues(database, reading),
    leases: createLeases({ sql: database, owner, lock, forget: writer.forget, aheadMs }),
    slots: createSlots(database, reading),
    rows: createRawRows(reading),
    disk: createDisk({ db: database, reading, ports, waitMs }),
    search: createSearchIndex({ db: database, reading, ports }),
    memory: createMemory(database, reading),
    progress: createProgress({ sql: database, reading, watch: noteWatch, schema, assertOpen }),
    async close() {
      if (closed) return
      closed = true
      await Promise.all([watch.close(), noteWatch.close()])
      await lock.release()
      await database.close()
    },
  }
}
