import type { AppendCall, AppendOutcome, PruneOutcome } from '@clew/ledger'

export interface AuditedParts {
  readonly transact: <T>(work: () => T) => Promise<T>
  /** Appends inside the transaction that was begun. */
  readonly append: (call: AppendCall) => AppendOutcome
  readonly ring: () => void
}

/** Thrown to undo a transaction whose answer is known. */
const UNDONE = new Error('a batch of retention was undone')

/** In one transaction with the event that says so: `find` gives null for a run that has moved, `apply` how much went. */
export async function audited<Item extends { readonly runId: string }, Found>(
  { transact, append, ring }: AuditedParts,
  { items, call }: { readonly items: readonly Item[]; readonly call: AppendCall },
  find: (item: Item) => Found | null,
  apply: (found: Found, item: Item) => number,
): Promise<PruneOutcome> {
  let answer: PruneOutcome | undefined
  const undo = (outcome: PruneOutcome): never => {
    answer = outcome
    throw UNDONE
  }
  let startedMs = 0
  try {
    const events = await transact(() => {
      startedMs = performance.now()
      const found = items.map(find)
      const moved = items.filter((_, at) => found[at] === null).map(({ runId }) => runId)
      if (moved.length > 0) undo({ moved })
      // The event first: positions go on from the newest one, which therefore must not be among those that go.
      const outcome = append(call)
      if ('error' in outcome) undo(outcome)
      return items.reduce((sum, item, at) => sum + apply(found[at] as Found, item), 0)
    })
    const tookMs = performance.now() - startedMs
    ring()
    return { events, tookMs }
  } catch (error) {
    if (error === UNDONE && answer) return answer
    throw error
  }
}
