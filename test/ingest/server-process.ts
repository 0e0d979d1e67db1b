import { startServer } from '@clew/server'
import { openLedger } from 'clew'

/** A server over the ledger that is named, until it is killed; says where it listens. */
const ledger = await openLedger(process.argv[2] as string)
const server = await startServer({ ledger, operations: [], port: 0 })
process.stdout.write(`${server.url}\n`)
