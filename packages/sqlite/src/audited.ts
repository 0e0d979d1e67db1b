import type { AppendCall, AppendOutcome, PruneOutcome } from '@clew/ledger'
import type { Append } from './append.ts'
import type { Connection } from './connection.ts'

interface Batch<Item> {
  readonly items: readonly Item[]
  /** Appends the event of the audit log. */
  readonly call: AppendCall
}

interface Steps<Item, Found> {
  /** Returns null if the run changed since planning. */
  find(item: Item): Found | null
  /** Returns how many events or payloads it deleted. */
  apply(found: Found, item: Item): number
}

/** Carries the outcome out of a transaction that must be rolled back. */
class Undone extends Error {
  readonly outcome: PruneOutcome
  constructor(outcome: PruneOutcome) {
    super('the batch was rolled back')
    this.outcome = outcome
  }
}

/** Prunes a batch and appends the audit event in one transaction: all of it, or nothing. */
export async function pruneAudited<Item extends { readonly runId: string }, Found>(
  { write }: Connection,
  append: Append,
  { items, call }: Batch<Item>,
  { find, apply }: Steps<Item, Found>,
): Promise<PruneOutcome> {
  let startedMs = 0
  try {
    const events = await write(() => {
      startedMs = performance.now()
      const found = items.map(find)
      const moved = items.filter((_, at) => found[at] === null).map(({ runId }) => runId)
      if (moved.length > 0) throw new Undone({ moved })
      // The event comes first: positions continue from the newest one, which must not be among those that are deleted.
      const outcome = append([call])[0] as AppendOutcome
      if ('error' in outcome) throw new Undone(outcome)
      return items.reduce((sum, item, at) => sum + apply(found[at] as Found, item), 0)
    })
    return { events, tookMs: performance.now() - startedMs }
  } catch (error) {
    if (error instanceof Undone) return error.outcome
    throw error
  }
}
