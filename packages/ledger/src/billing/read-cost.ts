import { findRun } from '../store/find-runs.ts'
import { missingRun } from '../check-options.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { type CostFoldOptions, type CostGrouping, type CostReport, costFold } from '../fold/cost.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { RunReader } from '../read/run-reader.ts'
import type { Store, StoredRun } from '../store/store.ts'

export interface CostFilter {
  readonly runId?: string | undefined
  readonly threadId?: string | undefined
  readonly agent?: string | undefined
  /** Only calls made at or after this time. */
  readonly since?: string | Date | undefined
  /** Default: by model. */
  readonly by?: CostGrouping | undefined
}

interface Parts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
  readonly workspace: string
}

/**
 * Reads the events of the runs that used tokens and skips all others, which their summaries show. A fork is billed
 * for its own events: the shared prefix was paid for by its source.
 */
export async function readCost(
  { store, reader, runs, workspace }: Parts,
  {
    runId,
    threadIds,
    agent,
    by,
  }: Omit<CostFilter, 'threadId'> & { readonly threadIds?: readonly string[] | undefined },
  since: string | undefined,
): Promise<CostReport> {
  const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since)
  let current: StoredRun | undefined
  const options: CostFoldOptions = {
    by,
    runOf: () => current?.summary,
    takes: (event: ClewEvent) => since === undefined || Date.parse(event.timestamp) >= sinceMs,
  }
  const fold = costFold(options)
  let state = fold.begin()
  const addRun = async (run: StoredRun): Promise<void> => {
    current = run
    for await (const page of runs.ownEvents(run))
      for (const event of await reader.toPlainEvents(page)) state = fold.apply(state, event)
    // The run is complete, so that the fold's state about its steps can be dropped.
    state.runs.delete(run.summary.runId)
  }
  const isMeant = ({ summary }: StoredRun): boolean =>
    summary.modelCalls > 0 &&
    (agent === undefined || summary.agent === agent) &&
    (threadIds === undefined || (summary.threadId !== null && threadIds.includes(summary.threadId))) &&
    // A run was active until the time of its last event.
    (since === undefined || Date.parse(summary.updatedAt) >= sinceMs)
  if (runId !== undefined) {
    const run = await findRun(store, { workspace, runId })
    if (!run) throw missingRun(runId)
    if (isMeant(run)) await addRun(run)
    return fold.view(state)
  }
  for await (const run of runs.allRuns({ agent, threadIds })) if (isMeant(run)) await addRun(run)
  return fold.view(state)
}
