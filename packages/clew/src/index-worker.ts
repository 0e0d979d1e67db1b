import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createLedger } from '@clew/ledger'
import { openSqliteStore } from '@clew/sqlite'
import { nodePorts } from '@clew/runtime/node-ports'

/** Keeps the search index of a file up to date in a thread of its own, so that appends do not pay for it (L1). */
const { path } = workerData as { path: string }
// On Linux priorities are those of threads: whoever appends or answers goes first.
if (process.platform === 'linux') setPriority(5)
const store = openSqliteStore(path, nodePorts, { create: false })
const ledger = createLedger({
  store,
  ports: nodePorts,
  // Nothing is written to the ledger from here, so nothing needs its real secret.
  secret: 'an indexer writes no events and needs no secret',
  heads: { verify: async () => false },
})
const stop = new AbortController()
parentPort?.once('message', () => stop.abort())
try {
  await ledger.index({ follow: true, signal: stop.signal })
} finally {
  await ledger.close()
  parentPort?.close()
}
