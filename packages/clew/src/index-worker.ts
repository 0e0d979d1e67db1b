import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { ClewError, createLedger, type ErrorCode } from '@clew/ledger'
import { openPostgresStore } from '@clew/postgres'
import { nodePorts } from '@clew/runtime/node-ports'
import { openSqliteStore } from '@clew/sqlite'
import { sqlitePath } from './sqlite-path.ts'

/** Thread that keeps the search index of a ledger up to date, so that appends do not wait for it (L1). */
const { url } = workerData as { url: string }
// On Linux a priority belongs to a thread: threads that append or answer come first.
if (process.platform === 'linux') setPriority(5)
const path = sqlitePath(url)
const store =
  path === undefined
    ? await openPostgresStore(url, nodePorts, { create: false })
    : openSqliteStore(path, nodePorts, { create: false })
const ledger = createLedger({
  store,
  ports: nodePorts,
  // The indexer writes no events, so it does not need the ledger's secret.
  secret: 'an indexer writes no events and needs no secret',
  heads: { verify: async () => false },
})
/** Errors that may pass without a change here: a full disk, a database that is away. */
const MAY_PASS: ReadonlySet<ErrorCode> = new Set([
  'store_full',
  'store_locked',
  'store_unreachable',
  'store_failed',
])
const RETRY_MS = 2000

const stop = new AbortController()
parentPort?.once('message', () => stop.abort())
try {
  while (!stop.signal.aborted) await indexOn()
} finally {
  await ledger.close()
}

async function indexOn(): Promise<void> {
  try {
    await ledger.index({ follow: true, signal: stop.signal })
  } catch (error) {
    if (!(error instanceof ClewError) || !MAY_PASS.has(error.code)) throw error
    await sleep(RETRY_MS, undefined, { signal: stop.signal }).catch(() => undefined)
  }
}
