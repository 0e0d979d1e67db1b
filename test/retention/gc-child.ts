import { openLedger } from 'clew'

/** Lets go whatever may go, and says so after each batch, until it is done or killed. */
const [url = ''] = process.argv.slice(2)
const ledger = await openLedger(url)
const report = await ledger.gc({
  policy: { rules: [{ name: 'all', newest: 0 }] },
  onProgress: (events) => void process.stdout.write(`${events}\n`),
})
process.stdout.write(`done ${report.events}\n`)
await ledger.close()
