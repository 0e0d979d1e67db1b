import { missingRun } from './check-options.ts'
import type { PayloadReader } from './payload-reader.ts'
import type { Ports } from './ports.ts'
import { checkProjections } from './projections.ts'
import { createRunReader, type RunReader } from './run-reader.ts'
import type { Store, StoredRun } from './store.ts'
import { createRunVerifier, type Problem } from './verify.ts'

interface VerifyParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
  readonly ports: Pick<Ports, 'sha256'>
  readonly workspace: string
}

interface VerifyChoice {
  readonly runId: string | undefined
  readonly projections: boolean
  readonly onProgress: ((checked: number) => void) | undefined
}

/** One run, or all of the workspace; then also whether the store holds events that belong to no run. */
export async function verifyRuns(
  { store, reader, runs, ports, workspace }: VerifyParts,
  { runId, projections, onProgress }: VerifyChoice,
): Promise<{ checked: number; problems: Problem[] }> {
  const verifier = createRunVerifier(store, reader, ports)
  const problems: Problem[] = []
  let checked = 0

  async function verifyOne(run: StoredRun): Promise<void> {
    const found = await verifier.verifyRun(run, (events) => {
      checked += events
      onProgress?.(checked)
    })
    problems.push(...found)
    // From events that are not what they were, nothing can be rebuilt to compare with.
    if (projections && found.length === 0) problems.push(...(await checkProjections(store, reader, run)))
  }

  if (runId === undefined) {
    for await (const run of runs.allRuns()) await verifyOne(run)
    problems.push(...(await findStrays(store)))
  } else {
    const run = await store.findRun({ workspace, runId })
    if (!run) throw missingRun(runId)
    await verifyOne(run)
  }
  return { checked, problems }
}

/** Events are counted before heads are added up, so that writers at work can only make the sum too large. */
async function findStrays(store: Store): Promise<Problem[]> {
  const { events } = await store.stats()
  let owned = 0
  for (const workspace of await store.workspaces())
    for await (const { seq, forkOf } of createRunReader(store, workspace, () => {}).allRuns())
      owned += seq - (forkOf?.seq ?? 0)
  if (events <= owned) return []
  return [{ runId: '', seq: null, problem: 'misplaced', detail: `${events - owned} events belong to no run` }]
}
