import { missingRun } from '../check-options.ts'
import type { Ledger } from '../ledger.ts'
import type { GcParts } from './gc.ts'
import { readHolds, releaseHold, setHold } from './holds.ts'
import { checkStatePolicy } from './plan-states.ts'
import { parsePolicy, type RetentionPolicyInput } from './policy.ts'
import type { StateRetention } from './states.ts'

interface RetentionParts extends Omit<GcParts, 'ledger'> {
  /** What the ledger was opened with. */
  readonly policy: RetentionPolicyInput | undefined
  readonly ledger: () => Ledger
  readonly assertOpen: () => void
  readonly assertWritable: () => void
}

export type LedgerRetention = Pick<Ledger, 'gc' | 'pruneStates' | 'hold' | 'release' | 'holds' | 'pruned'>

/** What a ledger lets go and what it must not (P4). */
export function createLedgerRetention(given: RetentionParts): LedgerRetention {
  const { policy: own, ledger, assertOpen, assertWritable, ...parts } = given
  const { store, reader, workspace } = parts
  const checked = own && parsePolicy(own)
  let states: StateRetention | undefined
  return {
    async gc({ policy, ...options } = {}) {
      if (options.dryRun) assertOpen()
      else assertWritable()
      const { collectGarbage, missingPolicy } = await import('./gc.ts')
      const meant = policy ? parsePolicy(policy) : checked
      if (!meant) throw missingPolicy()
      return collectGarbage({ ...parts, ledger: ledger() }, meant, options)
    },
    async pruneStates(runId, policy) {
      assertWritable()
      checkStatePolicy(policy)
      const { createStateRetention } = await import('./states.ts')
      states ??= createStateRetention({ ...parts, ledger: ledger() })
      return states(runId, policy)
    },
    async hold(target, options = {}) {
      assertWritable()
      return setHold(ledger(), target, options)
    },
    async release(holdId, options = {}) {
      assertWritable()
      return releaseHold(ledger(), holdId, options)
    },
    holds: async () => (await readHolds(ledger())).holds,
    async pruned(runId) {
      assertOpen()
      const run = await store.findRun({ workspace, runId })
      if (!run) throw missingRun(runId)
      const { createSealCheck } = await import('./check-seals.ts')
      const check = createSealCheck(store, reader)
      return [...(await check.of(run)).pruned, ...(await check.statesOf(run))]
    },
  }
}
