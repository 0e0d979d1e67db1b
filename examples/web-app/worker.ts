/** A worker process. `clew worker examples/web-app/order-agent.ts` does the same; several may run, on one ledger. */
import { openLedger, startWorker } from 'clew'
import { orders } from './order-agent.ts'

const [, , url = '', name = ''] = process.argv
const ledger = await openLedger(url)
const worker = await startWorker({
  ledger,
  agents: [orders],
  concurrency: 2,
  // How soon the runs of a process that died are found; the default is 15 s.
  sweepMs: 500,
  onNotice(notice) {
    if (notice.type === 'taken') console.log(`    worker ${name}: takes ${notice.runId}, ${notice.why}`)
    else if (notice.type === 'swept')
      console.log(`    worker ${name}: finds ${notice.runIds.join()} without owner`)
    else if (notice.type !== 'ended') console.log(`    worker ${name}:`, notice)
  },
})
// Ends with the process that started it.
process.once('disconnect', () => void worker.stop())
await worker.ended
await ledger.close()
