import { setTimeout as sleep } from 'node:timers/promises'
import { openLedger } from 'clew'

const [url = '', events = '0'] = process.argv.slice(2)
const ledger = await openLedger(url)
for (let i = 0; i < Number(events); i++) {
  await ledger.record({ eventType: 'execution.message', correlationId: 'followed', payload: { index: i } })
  await sleep(3 + (i % 5))
}
await ledger.close()
