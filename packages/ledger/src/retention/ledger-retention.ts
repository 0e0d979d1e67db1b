import { checkRemovals } from '../removal/check-removals.ts'
import { readRemovals } from '../removal/read-removals.ts'
import { findRun, findSeals } from '../store/find-runs.ts'
import { missingRun } from '../check-options.ts'
import type { Ledger } from '../ledger.ts'
import { collectGarbage, type GcParts, missingPolicy } from './gc.ts'
import { readHolds, releaseHold, setHold, toHold } from './holds.ts'
import { checkStatePolicy } from './plan-states.ts'
import { parsePolicy, type RetentionPolicy, type RetentionPolicyInput } from './policy.ts'
import { readPolicyChange } from '../policy/workspace-policy.ts'
import { type PolicyInForce, readRetentionReport } from './report.ts'
import { createStateRetention, type StateRetention } from './states.ts'

interface RetentionParts extends Omit<GcParts, 'ledger'> {
  /** Policy that the ledger was opened with. */
  readonly policy: RetentionPolicyInput | undefined
  readonly ledger: () => Ledger
  readonly assertOpen: () => void
  readonly assertWritable: () => void
}

export type LedgerRetention = Pick<
  Ledger,
  'gc' | 'retentionReport' | 'pruneStates' | 'hold' | 'release' | 'holds' | 'pruned'
>

/** Retention policy: what is deleted, and what never is (P4). */
export function createLedgerRetention(given: RetentionParts): LedgerRetention {
  const { policy: own, ledger, assertOpen, assertWritable, ...parts } = given
  const { store, reader, workspace } = parts
  const checked = own && parsePolicy(own)
  let states: StateRetention | undefined

  /** The policy of this process wins over the policy of the workspace. */
  async function inForce(): Promise<Omit<PolicyInForce, 'problem'> | null> {
    if (own) return { source: 'opened', policy: own, by: null, at: null }
    const { policy, by, at } = await readPolicyChange(store, workspace)
    return policy.retention ? { source: 'workspace', policy: policy.retention, by, at } : null
  }

  async function ofWorkspace(): Promise<RetentionPolicy | undefined> {
    const { retention } = (await readPolicyChange(store, workspace)).policy
    return retention && parsePolicy(retention)
  }

  return {
    async gc({ policy, ...options } = {}) {
      if (options.dryRun) assertOpen()
      else assertWritable()
      const meant = policy ? parsePolicy(policy) : (checked ?? (await ofWorkspace()))
      if (!meant) throw missingPolicy()
      return collectGarbage({ ...parts, ledger: ledger() }, meant, options)
    },
    async retentionReport() {
      assertOpen()
      return readRetentionReport({ ...parts, ledger: ledger() }, await inForce())
    },
    async pruneStates(runId, policy) {
      assertWritable()
      checkStatePolicy(policy)
      states ??= createStateRetention({ ...parts, ledger: ledger() })
      return states(runId, policy)
    },
    async hold(target, options = {}) {
      assertWritable()
      return setHold(ledger(), target, options)
    },
    async release(holdId, options = {}) {
      assertWritable()
      return toHold(await releaseHold(ledger(), holdId, options))
    },
    holds: async () => (await readHolds(ledger())).holds.map(toHold),
    async pruned(runId) {
      assertOpen()
      const run = await findRun(store, { workspace, runId })
      if (!run) throw missingRun(runId)
      const seals = await findSeals(store, { workspace, runId })
      return checkRemovals(run, await readRemovals(store, reader, workspace), seals).end().pruned
    },
  }
}
