import { once } from 'node:events'
import { openLedger } from 'clew'

/** `clew gc` without its output: a process of its own beside the one that writes. Begins when it is told to. */
const ledger = await openLedger(process.argv[2] as string)
const policy = { rules: [{ match: { agent: 'old' }, newest: 0 }] }
await ledger.gc({ policy, dryRun: true })
process.stdout.write('ready')
await once(process.stdin, 'data')
const { events } = await ledger.gc({ policy })
await ledger.close()
process.stdout.write(String(events))
process.stdin.destroy()
