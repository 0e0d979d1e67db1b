import type { RunKey, RunQuery, StoreCore, StoredRun } from './store.ts'
import type { PruneMarker } from './change.ts'

type RunFinder = Pick<StoreCore, 'findRuns'>

/** One run, also if it was deleted. */
export async function findRun(
  store: RunFinder,
  { workspace, runId }: RunKey,
  parts?: RunQuery['with'],
): Promise<StoredRun | null> {
  const { runs } = await store.findRuns({ workspace, ids: [runId], deleted: true, limit: 1, with: parts })
  return runs[0] ?? null
}

/** Child runs and forks of any of these runs, oldest first; also deleted ones. */
export async function findBelow(
  store: RunFinder,
  workspace: string,
  runIds: readonly string[],
): Promise<readonly StoredRun[]> {
  const query: RunQuery = { workspace, below: runIds, deleted: true, order: 'oldest' }
  return (await store.findRuns(query)).runs
}

/** Pruned ranges of a run, by seq. */
export const findSeals = async (store: RunFinder, key: RunKey): Promise<readonly PruneMarker[]> =>
  (await findRun(store, key, ['pruned']))?.pruned ?? []
