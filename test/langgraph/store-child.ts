/** Another process on the same file: does one operation per line and answers with what it gave. */
import { createInterface } from 'node:readline'
import { openLedger } from 'clew'
import { ClewStore } from 'clew/langgraph'

const ledger = await openLedger(`sqlite:${process.argv[2]}`)
const store = new ClewStore(ledger)
console.log('"ready"')
for await (const line of createInterface(process.stdin)) {
  const operations = JSON.parse(line) as Parameters<ClewStore['batch']>[0]
  console.log(JSON.stringify(await store.batch(operations)))
}
