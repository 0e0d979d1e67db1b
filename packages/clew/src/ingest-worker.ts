import { parentPort, workerData } from 'node:worker_threads'
import { createLog, DEFAULT_LIMITS } from '@clew/server'
import { serveIngest } from '@clew/server/ingest'
import { openLedger } from './open-ledger.ts'
import type { IngestWorkerData } from './start-ingest.ts'

/** Thread that reads the large bodies of a server: it has a connection of its own to the same store. */
const { url, options, limits, log } = workerData as IngestWorkerData
if (!parentPort) throw new Error('this program is started as a thread')
const port = parentPort
// Messages that come meanwhile wait in the port until it has a listener.
const ledger = await openLedger(url, options)
serveIngest(port, ledger, { limits: { ...DEFAULT_LIMITS, ...limits }, log: createLog(log) })
