import { differingColumns } from '../verify/check-projections.ts'
import { findRun } from '../store/find-runs.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import { createRunFold, stepRowKey } from './fold-stored-run.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import { yieldToEventLoop } from '../yield-to-event-loop.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Ports } from '../ports.ts'
import { markProjections, PROJECTION_VERSION, readProjectionState } from './projection-version.ts'
import type { RunKey, RunQuery, Store, StoredRun } from '../store/store.ts'
import type { RowChange } from '../store/change.ts'

export interface RebuildOptions {
  /** Called with the number of rebuilt runs; an exception ends the rebuild, and the next one continues there. */
  readonly onProgress?: ((runs: number) => void) | undefined
}

export interface RebuildReport {
  readonly version: number
  readonly runs: number
  /** Runs whose stored rows were not what their events fold to. */
  readonly changed: number
  /** Runs that keep their rows because part of their events is pruned: a fold of the rest would say less. */
  readonly kept: number
}

interface RebuildParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly ports: Pick<Ports, 'now' | 'defer'>
}

const PAGE = 500
/** Runs of one page: a rebuild that was cut short continues with the page it was at. */
const RUNS = 100
/** Rows of one transaction: a few milliseconds, which is all that a writer ever waits. */
const ROWS = 200

/**
 * Makes the stored rows of runs and steps again from the events, in all workspaces, oldest run first. Writers go on:
 * rows are replaced only while their run stands where it was folded to, and where it does not, it is folded on.
 */
export async function rebuildProjections(
  parts: RebuildParts,
  { onProgress }: RebuildOptions,
): Promise<RebuildReport> {
  const { slots } = parts.store
  const { version, rebuilding } = await readProjectionState(slots)
  let cursor = rebuilding?.version === PROJECTION_VERSION ? rebuilding.cursor : null
  const counts = { runs: 0, changed: 0, kept: 0 }
  for (let isFirst = true; isFirst || cursor !== null; isFirst = false) {
    await markProjections(slots, { version, rebuilding: { version: PROJECTION_VERSION, cursor } })
    const query: RunQuery = { order: 'oldest', deleted: true, limit: RUNS }
    const page = await parts.store.findRuns({ ...query, cursor: cursor ?? undefined })
    for (const run of page.runs) {
      const outcome = await rebuildRun(parts, run)
      if (outcome !== 'same') counts[outcome]++
      counts.runs++
      onProgress?.(counts.runs)
    }
    cursor = page.next
  }
  await markProjections(slots, { version: PROJECTION_VERSION, rebuilding: null })
  return { version: PROJECTION_VERSION, ...counts }
}

async function rebuildRun(parts: RebuildParts, run: StoredRun): Promise<'same' | 'changed' | 'kept'> {
  const { store } = parts
  const key: RunKey = { workspace: run.workspace, runId: run.summary.runId }
  const folding = await beginFolding(parts, run)
  let changed = false
  for (;;) {
    if (!(await folding.goOn())) return 'kept'
    const stored = await findRun(store, key)
    if (!stored || !folding.summary()) return 'kept'
    if (stored.seq > folding.seq()) continue
    const { steps, gone } = compareSteps(await store.readSteps(key), folding.steps)
    const summary = folding.summary()
    const rows = await store.rows.ofRun(key)
    const isSame =
      JSON.stringify(stored.summary) === JSON.stringify(summary) &&
      rows !== null &&
      differingColumns(stored.summary, rows).length === 0
    if (isSame && steps.length === 0 && gone.length === 0) return changed ? 'changed' : 'same'
    changed = true
    const expect = [{ ...key, seq: folding.seq() }]
    const replace = async (rows: Omit<RowChange, keyof RunKey>): Promise<boolean> =>
      'outcomes' in (await store.write({ calls: [], expect, replace: [{ ...key, ...rows }] }))
    for (let at = 0; at < Math.max(steps.length, gone.length); at += ROWS) {
      const rows = { steps: steps.slice(at, at + ROWS), gone: gone.slice(at, at + ROWS) }
      if (!(await replace(rows))) break
      await yieldToEventLoop(parts.ports)
    }
    await replace({ summary, steps: [], gone: [] })
  }
}

interface Folding {
  readonly steps: ReadonlyMap<string, StepSkeleton>
  seq(): number
  summary(): RunSummary | undefined
  /** Folds what has been appended since; false when events are missing. */
  goOn(): Promise<boolean>
}

/** Folds a run that may grow meanwhile. */
async function beginFolding({ store, reader, ports }: RebuildParts, run: StoredRun): Promise<Folding> {
  const key: RunKey = { workspace: run.workspace, runId: run.summary.runId }
  const named = run.summary.forkedFrom
  const source = named ? await findRun(store, { workspace: run.workspace, runId: named.runId }) : null
  const fold = createRunFold(key, source?.summary)
  let seq = run.forkOf?.seq ?? 0

  return {
    steps: fold.steps,
    seq: () => seq,
    summary: fold.summary,
    async goOn() {
      for (;;) {
        const page = await store.readRun(key, { afterSeq: seq, limit: PAGE })
        for (const event of await reader.toPlainEvents(page)) {
          if (event.ledger.seq !== seq + 1 || (event.ledger.pruned && event.ledger.erased)) return false
          fold.apply(event)
          seq = event.ledger.seq
        }
        await yieldToEventLoop(ports)
        if (page.length < PAGE) return true
      }
    },
  }
}

/** Step rows to put and to drop so that the stored steps equal the folded ones. */
export function compareSteps(
  stored: readonly StepSkeleton[],
  folded: ReadonlyMap<string, StepSkeleton>,
): { steps: StepSkeleton[]; gone: StepSkeleton[] } {
  const before = new Map(stored.map((step) => [stepRowKey(step), JSON.stringify(step)]))
  const steps = [...folded].filter(([id, step]) => before.get(id) !== JSON.stringify(step))
  return {
    steps: steps.map(([, step]) => step),
    gone: stored.filter((step) => !folded.has(stepRowKey(step))),
  }
}
