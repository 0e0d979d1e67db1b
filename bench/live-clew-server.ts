import { openLedger } from 'clew'
import { startServer } from '@clew/server'
import { answerUsage } from './live-load.ts'

const [store = ''] = process.argv.slice(2)
const ledger = await openLedger(store)
const { url } = await startServer({ ledger, operations: [], port: 0 })
answerUsage()
process.send?.({ url })
