import { findRun } from './store/find-runs.ts'
import { missingRun } from './check-options.ts'
import type { PayloadReader } from './payload-reader.ts'
import type { Ports } from './ports.ts'
import { checkProjections } from './projections.ts'
import type { PrunedRange } from './retention/pruned.ts'
import { createRunReader, type RunReader } from './run-reader.ts'
import type { Store, StoredRun } from './store/store.ts'
import { checkVault } from './vault/check-vault.ts'
import type { VaultCipher } from './vault/vault.ts'
import { createRunVerifier, type Problem } from './verify.ts'

interface VerifyParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
  readonly ports: Pick<Ports, 'sha256'>
  readonly workspace: string
  readonly vault: VaultCipher | undefined
}

interface VerifyChoice {
  readonly runId: string | undefined
  readonly projections: boolean
  readonly onProgress: ((checked: number) => void) | undefined
}

/** One run, or all of the workspace; then also whether the store holds events that belong to no run, and vault rows. */
export async function verifyRuns(
  { store, reader, runs, ports, workspace, vault }: VerifyParts,
  { runId, projections, onProgress }: VerifyChoice,
): Promise<{ checked: number; problems: Problem[]; pruned: PrunedRange[] }> {
  const verifier = createRunVerifier(store, reader, ports)
  const problems: Problem[] = []
  const pruned: PrunedRange[] = []
  let checked = 0

  async function verifyOne(run: StoredRun): Promise<void> {
    const found = await verifier.verifyRun(run, (events) => {
      checked += events
      onProgress?.(checked)
    })
    problems.push(...found.problems)
    pruned.push(...found.pruned)
    // From events that are gone or not what they were, nothing can be rebuilt to compare with.
    const isWhole = found.problems.length + found.pruned.length === 0
    if (projections && isWhole) problems.push(...(await checkProjections(store, reader, run)))
  }

  if (runId === undefined) {
    for await (const run of runs.allRuns({ deleted: true })) await verifyOne(run)
    problems.push(...(await findStrays(store)), ...(await checkVault(store, workspace, vault)))
  } else {
    const run = await findRun(store, { workspace, runId })
    if (!run) throw missingRun(runId)
    await verifyOne(run)
  }
  return { checked, problems, pruned }
}

/** Events are counted before heads are added up, so that writers at work can only make the sum too large. */
async function findStrays(store: Store): Promise<Problem[]> {
  const { stats, prunedEvents, workspaces } = await store.info('stats', 'prunedEvents', 'workspaces')
  const { events } = stats
  let owned = -prunedEvents
  for (const workspace of workspaces)
    for await (const { seq, forkOf } of createRunReader(store, workspace, () => {}).allRuns({
      deleted: true,
    }))
      owned += seq - (forkOf?.seq ?? 0)
  if (events <= owned) return []
  return [{ runId: '', seq: null, problem: 'misplaced', detail: `${events - owned} events belong to no run` }]
}
