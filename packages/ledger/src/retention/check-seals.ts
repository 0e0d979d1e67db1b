import { findSeals } from '../store/find-runs.ts'
import type { PayloadReader } from '../payload-reader.ts'
import type { Store, StoredRun } from '../store/store.ts'
import { type PrunedRange, readNamedSeals, sealKey } from './pruned.ts'
import type { Seal } from '../store/change.ts'

/** The seals of one run, as far as they can be believed. */
interface RunSeals {
  /** The seal whose range begins at this seq. */
  at(fromSeq: number): Seal | undefined
  /** Adjoining ranges that the same rule took are told as one. */
  readonly pruned: readonly PrunedRange[]
  readonly forged: readonly { readonly fromSeq: number; readonly detail: string }[]
}

export interface SealCheck {
  of(run: StoredRun): Promise<RunSeals>
  /** Ranges of a run in which states went (R10). */
  statesOf(run: StoredRun): Promise<readonly PrunedRange[]>
}

/**
 * A seal counts when the audit book, which is chained and never pruned, names it with the same hash: whoever takes
 * events away by a seal of his own leaves it without an event that says so.
 */
export function createSealCheck(store: Store, reader: PayloadReader): SealCheck {
  const named = new Map<string, ReturnType<typeof readNamedSeals>>()
  function namedIn(workspace: string): ReturnType<typeof readNamedSeals> {
    const book = named.get(workspace) ?? readNamedSeals(store, reader, workspace)
    named.set(workspace, book)
    return book
  }

  return {
    async of({ workspace, summary: { runId } }) {
      const seals = await findSeals(store, { workspace, runId })
      if (seals.length === 0) return NONE
      const { seals: told } = await namedIn(workspace)
      const trusted = new Map<number, Seal>()
      const pruned: PrunedRange[] = []
      const forged: { fromSeq: number; detail: string }[] = []
      for (const seal of seals) {
        const { fromSeq, toSeq } = seal
        const entry = told.get(sealKey(seal))
        if (!entry)
          forged.push({
            fromSeq,
            detail: `no event of the audit book names the seal of ${fromSeq} to ${toSeq}`,
          })
        else {
          const { headHash: _, ...range } = { ...entry, runId }
          trusted.set(fromSeq, seal)
          addRange(pruned, range)
        }
      }
      return { at: (fromSeq) => trusted.get(fromSeq), pruned, forged }
    },
    async statesOf({ workspace, summary: { runId } }) {
      return (await namedIn(workspace)).states.get(runId) ?? []
    },
  }
}

const NONE: RunSeals = { at: () => undefined, pruned: [], forged: [] }

function addRange(ranges: PrunedRange[], range: PrunedRange): void {
  const last = ranges.at(-1)
  if (last && last.toSeq + 1 === range.fromSeq && last.rule === range.rule && last.by === range.by)
    ranges.splice(-1, 1, { ...last, toSeq: range.toSeq })
  else ranges.push(range)
}
