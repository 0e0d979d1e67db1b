import { writeSync } from 'node:fs'
import { openLedger, startWorker } from 'clew'
import { hangs, poison, quick, short } from './worker-agents.ts'

/** A worker process: `node worker-child.ts URL CONCURRENCY SWEEP_MS GRACE_MS`; tells one JSON line for each notice. */
const [, , url = '', concurrency, sweepMs, graceMs] = process.argv
const ledger = await openLedger(url)
const worker = await startWorker({
  ledger,
  agents: [short, hangs, poison, quick],
  concurrency: Number(concurrency),
  sweepMs: Number(sweepMs),
  graceMs: Number(graceMs),
  onNotice: (notice) => void writeSync(1, `${JSON.stringify(notice)}\n`),
})
process.once('SIGTERM', () => void worker.stop())
writeSync(1, '"working"\n')
await worker.ended
await ledger.close()
process.exit()
