import { checkRemovals } from '../removal/check-removals.ts'
import { readRemovals } from '../removal/read-removals.ts'
import { findRun, findSeals } from '../store/find-runs.ts'
import { missingRun } from '../check-options.ts'
import type { Ledger } from '../ledger.ts'
import { collectGarbage, type GcParts, missingPolicy, type PolicySource } from './gc.ts'
import { readHolds, releaseHold, setHold, toHold } from './holds.ts'
import { checkStatePolicy } from './plan-states.ts'
import { parsePolicy, type RetentionPolicyInput } from './policy.ts'
import { readPolicyChange } from '../policy/workspace-policy.ts'
import { readRetentionReport } from './report.ts'
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
  if (own) parsePolicy(own)
  let states: StateRetention | undefined

  /** The policy of the workspace wins: it is on record, the same for all processes, and changed without a deploy. */
  async function inForce(): Promise<(PolicySource & { readonly policy: RetentionPolicyInput }) | null> {
    const { policy, by, at } = await readPolicyChange(store, workspace)
    if (policy.retention) return { source: 'workspace', policy: policy.retention, by, at }
    return own ? { source: 'opened', policy: own, by: null, at: null } : null
  }

  return {
    async gc({ policy, ...options } = {}) {
      if (options.dryRun) assertOpen()
      else assertWritable()
      const meant = policy ? { policy, source: 'given' as const, by: null, at: null } : await inForce()
      if (!meant) throw missingPolicy()
      const { policy: rules, ...source } = meant
      return collectGarbage({ ...parts, ledger: ledger() }, parsePolicy(rules), source, options)
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
