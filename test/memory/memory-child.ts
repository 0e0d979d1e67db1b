import { type MemoryScope, openLedger } from 'clew'
import { armCrash, type CrashPoint } from '../crash/crash-points.ts'

/** `node memory-child.ts DATABASE WORK`: promotes, sweeps or reads until it is done, or killed at the instant it is told. */
const [, , database = '', work = ''] = process.argv
const point = process.env['CLEW_CRASH_AT'] as CrashPoint | undefined
const ledger = await openLedger(`sqlite:${database}`)
if (point) armCrash(point, Number(process.env['CLEW_CRASH_AFTER']))
const scope: MemoryScope = { layer: 'session', scope: 't' }
if (work === 'promote')
  await ledger.memory.promote({ rules: [{ from: 'session', to: 'long', when: { namespaces: ['n'] } }] })
else if (work === 'sweep') await ledger.memory.sweep({ retention: { session: { maxItems: 5 } } })
else await ledger.memory.list({ scopes: [scope] })
await ledger.close()
