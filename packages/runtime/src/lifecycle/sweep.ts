import { type Ledger, sweepOrphans, sweepThread as sweepThreadOf } from '@clew/ledger'
import { isHeldHere } from './ticker.ts'
import { wakeNext } from './lease-queue.ts'

/** `sweepOrphans`, but for what this process itself holds; who waits here for one of them is woken. */
export const sweep = (ledger: Ledger): Promise<string[]> =>
  sweepOrphans(ledger, { isHeldHere, onFreed: (lease) => wakeNext(ledger, lease) })

export const sweepThread = (ledger: Ledger, threadId: string, exceptRunId: string): Promise<void> =>
  sweepThreadOf(ledger, threadId, exceptRunId, { isHeldHere, onFreed: (lease) => wakeNext(ledger, lease) })
