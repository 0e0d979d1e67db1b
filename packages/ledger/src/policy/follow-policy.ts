import type { Store } from '../store/store.ts'
import { readPolicyChange, type ActivePolicy, type WorkspacePolicy } from './workspace-policy.ts'

/** A policy that somebody else has set is in force here no later than this: what is known is never older. */
const POLICY_MS = 1000
/** From this age on it is asked for by the way, so that whoever writes all the time never waits for it. */
const ASK_MS = 500

interface FollowParts {
  readonly store: Store
  readonly workspace: string
  readonly now: () => number
  readonly use: (policy: WorkspacePolicy) => void
  /** Policy as last read, with the time and the seq of the audit run. */
  readonly known: ActivePolicy & { readonly readMs: number }
}

/**
 * Says whether the policy is known well enough to write by it: undefined if so, else a promise for that. Only the
 * events of the audit run that came since are looked at, and mostly there are none.
 */
export function followPolicy({
  store,
  workspace,
  now,
  use,
  known,
}: FollowParts): () => Promise<void> | undefined {
  let { seq, readMs } = known
  let asking: Promise<void> | undefined
  /** The answer that calls wait for. Later calls wait for it too, or they would be written before those (L3). */
  let awaited: Promise<void> | undefined

  async function ask(): Promise<void> {
    const startedMs = now()
    const change = await readPolicyChange(store, workspace, seq)
    if (change.at !== null) use(change.policy)
    seq = change.seq
    readMs = startedMs
  }

  function wait(answer: Promise<void>): Promise<void> {
    const over = (): void => void (awaited = undefined)
    // Runs before whoever waits, and nothing runs between the two: they are reactions to the same promise.
    answer.then(over, over)
    return (awaited = answer)
  }

  return () => {
    if (awaited) return awaited
    const age = now() - readMs
    // A clock that went back tells nothing.
    const isYoung = age >= 0 && age < POLICY_MS
    if (isYoung && age < ASK_MS) return undefined
    asking ??= ask().finally(() => (asking = undefined))
    if (!isYoung) return wait(asking)
    // Whoever comes when it is too old asks again, and is told what is wrong.
    asking.catch(() => undefined)
    return undefined
  }
}
