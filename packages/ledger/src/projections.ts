import { findRun } from './store/find-runs.ts'
import { createUsageCounter } from './billing/usage-counter.ts'
import { createBeginnings } from './fold/begins-step.ts'
import { beginRun, foldRun, type RunSummary } from './fold/run-summary.ts'
import { foldSteps, toSkeleton } from './fold/steps.ts'
import type { ClewEvent } from './envelope.ts'
import { checkMemoryRows } from './memory/check-rows.ts'
import type { PayloadReader } from './payload-reader.ts'
import type { Store, StoredRun } from './store/store.ts'
import type { Problem } from './verify.ts'

/** Folds a run's own events from the first one on: what its stored rows must equal (L1). */
export function projectRun(events: readonly ClewEvent[], source?: RunSummary): RunSummary | undefined {
  const [first] = events
  if (!first) return undefined
  const count = createUsageCounter()
  const isBeginning = createBeginnings()
  let summary = beginRun(first, source)
  for (const event of events) summary = foldRun(summary, event, count(event), isBeginning(event))
  return summary
}

export async function checkProjections(
  store: Store,
  reader: PayloadReader,
  run: StoredRun,
): Promise<Problem[]> {
  const { runId } = run.summary
  const key = { workspace: run.workspace, runId }
  const events: ClewEvent[] = []
  for (let seq = run.forkOf?.seq ?? 0; ; ) {
    const page = await store.readRun(key, { afterSeq: seq, limit: 500 })
    events.push(...(await reader.toPlainEvents(page)))
    if (page.length < 500) break
    seq = page.at(-1)?.seq ?? seq
  }
  const named = run.summary.forkedFrom
  const source = named ? await findRun(store, { workspace: run.workspace, runId: named.runId }) : null
  const problems: Problem[] = []
  const compare = (what: string, stored: unknown, rebuilt: unknown): void => {
    if (JSON.stringify(stored) !== JSON.stringify(rebuilt))
      problems.push({
        runId,
        seq: null,
        problem: 'projection_differs',
        detail: `the stored ${what} is not what its events fold to`,
      })
  }
  compare('summary', run.summary, projectRun(events, source?.summary))
  compare('list of steps', await store.readSteps(key), foldSteps(events).map(toSkeleton))
  return [...problems, ...(await checkMemoryRows(store, reader, run))]
}
