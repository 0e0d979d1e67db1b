import type { Store } from '../store/store.ts'
import { readPolicyChange, type ActivePolicy, type WorkspacePolicy } from './workspace-policy.ts'

/** Upper limit on the age of a cached policy: one that another process sets is in force here no later than this. */
const POLICY_MS = 1000
/** From this age on the policy is refreshed in the background, so that a busy writer never waits for it. */
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
 * Returns undefined if the known policy is recent enough to write by it, else a promise that resolves when it is. Reads only
 * newer events of the audit run, of which there are mostly none.
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
    // Runs before the waiting callers, with nothing in between: both are reactions to the same promise.
    answer.then(over, over)
    return (awaited = answer)
  }

  return () => {
    if (awaited) return awaited
    const age = now() - readMs
    // After the clock was set back the age is unknown.
    const isYoung = age >= 0 && age < POLICY_MS
    if (isYoung && age < ASK_MS) return undefined
    asking ??= ask().finally(() => (asking = undefined))
    if (!isYoung) return wait(asking)
    // The next caller after expiry reads again, and gets the error.
    asking.catch(() => undefined)
    return undefined
  }
}
