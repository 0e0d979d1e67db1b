import { findRun } from '../store/find-runs.ts'
import { AUDIT_RUN_ID } from '../append/audit-run.ts'
import { missingRun } from '../check-options.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Ports } from '../ports.ts'
import { checkProjections } from './check-projections.ts'
import { readMarks, type WorkspaceMarks } from '../removal/check-removals.ts'
import { readRemovals, type Removals } from '../removal/read-removals.ts'
import type { RemovedRange } from '../removal/removed-range.ts'
import type { PrunedRange } from '../retention/pruned.ts'
import { countUnused } from '../retention/sweep-values.ts'
import { createRunReader, type RunReader } from '../read/run-reader.ts'
import type { Store, StoredRun } from '../store/store.ts'
import { checkVault } from '../vault/check-vault.ts'
import type { VaultCipher } from '../vault/vault.ts'
import { createRunVerifier, type Problem, type RunVerdict } from './verify.ts'

interface VerifyParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
  readonly ports: Pick<Ports, 'sha256' | 'defer' | 'now'>
  readonly workspace: string
  readonly vault: VaultCipher | undefined
}

interface VerifyChoice {
  readonly runId: string | undefined
  readonly projections: boolean
  readonly onProgress: ((checked: number) => void) | undefined
}

/** Limit of reads for a run in which events are erased or pruned during the check. */
const ATTEMPTS = 3

/** Verifies one run, or the workspace with the rows of the store that belong to no run. */
export async function verifyRuns(
  parts: VerifyParts,
  { runId, projections, onProgress }: VerifyChoice,
): Promise<{ checked: number; problems: Problem[]; pruned: PrunedRange[] }> {
  const { store, reader, runs, ports, workspace, vault } = parts
  const verifier = createRunVerifier(store, reader, ports)
  const problems: Problem[] = []
  const pruned: PrunedRange[] = []
  const fitting = new Set<string>()
  const scopes = new Set<number>()
  let checked = 0
  let recorded = await readRecorded()

  async function readRecorded(): Promise<{ removals: Removals; marks: WorkspaceMarks }> {
    const removals = await readRemovals(store, reader, workspace)
    return { removals, marks: await readMarks(store, workspace) }
  }

  async function verifyOnce(run: StoredRun): Promise<RunVerdict> {
    const { removals, marks } = recorded
    const own = { removals, marks: marks.of(run.summary.runId) }
    return verifier.verifyRun(run, own, (events) => {
      checked += events
      onProgress?.(checked)
    })
  }

  async function verifyOne(given: StoredRun): Promise<RunVerdict> {
    let run = given
    let found = await verifyOnce(run)
    for (let attempt = 1; attempt < ATTEMPTS && found.problems.length > 0; attempt++) {
      const { seq } = recorded.removals
      const before = checked
      recorded = await readRecorded()
      if (recorded.removals.seq === seq) break
      run = (await findRun(store, { workspace, runId: run.summary.runId })) ?? run
      found = await verifyOnce(run)
      checked = before
    }
    problems.push(...found.problems)
    pruned.push(...found.pruned)
    for (const range of found.fitting) fitting.add(rangeKey(range))
    // From events that are not what they were, nothing can be folded to compare with.
    if (projections && found.problems.length === 0) {
      const compared = await checkProjections(parts, run, found.fitting)
      problems.push(...compared.problems)
      if (compared.scope !== undefined) scopes.add(compared.scope)
    }
    return found
  }

  if (runId === undefined) {
    for await (const run of runs.allRuns({ deleted: true })) await verifyOne(run)
    problems.push(...(await findMissingRuns(parts, recorded.removals, fitting)))
    problems.push(...(await findStrayEvents(store)), ...(await strayMarks(store, recorded.marks)))
    problems.push(...(await checkVault(store, workspace, vault)))
    if (projections) problems.push(...(await findStrayRows(parts, scopes)))
  } else {
    const run = await findRun(store, { workspace, runId })
    if (!run) throw missingRun(runId)
    const found = await verifyOne(run)
    // Removals are accepted because the audit run records them, so the audit run is verified first.
    const audit = await findRun(store, { workspace, runId: AUDIT_RUN_ID })
    if (audit && runId !== AUDIT_RUN_ID && found.fitting.length > 0) await verifyOne(audit)
  }
  return { checked, problems, pruned }
}

const rangeKey = ({ kind, toSeq, headHash }: RemovedRange): string => `${kind} ${toSeq} ${headHash}`

/** Runs that audit events name and that are not there. A name that redaction changed belongs to a range that fits elsewhere. */
async function findMissingRuns(
  { store, workspace }: VerifyParts,
  { all }: Removals,
  fitting: ReadonlySet<string>,
): Promise<Problem[]> {
  const named = new Map<string, RemovedRange>()
  for (const range of all)
    if (range.runId !== null && !fitting.has(rangeKey(range)) && !named.has(range.runId))
      named.set(range.runId, range)
  const problems: Problem[] = []
  for (const [runId, { kind, fromSeq, toSeq }] of named) {
    if (await findRun(store, { workspace, runId })) continue
    const detail = `an audit event says that ${kind} of seq ${fromSeq} to ${toSeq} went, and the run itself is not there`
    problems.push({ runId, seq: null, problem: 'run_missing', detail })
  }
  return problems
}

/** Events are counted before heads are added up, so that writers at work can only make the sum too large. */
async function findStrayEvents(store: Store): Promise<Problem[]> {
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

/** Rows of tables that belong to nothing, and shared values that nothing refers to and no sweep is pending for. */
async function findStrayRows({ store, ports }: VerifyParts, scopes: ReadonlySet<number>): Promise<Problem[]> {
  const stray = (detail: string): Problem => ({ runId: '', seq: null, problem: 'stray_row', detail })
  const problems = (await store.rows.strays()).map(({ table, rows }) =>
    stray(`${rows} ${rows === 1 ? 'row' : 'rows'} of ${table} belong to nothing`),
  )
  let unused = 0
  for (const scope of scopes) unused += await countUnused({ store, ports }, scope)
  if (unused > 0)
    problems.push(stray(`${unused} ${unused === 1 ? 'row' : 'rows'} of nodes are used by no event`))
  return problems
}

/** Rows that would allow the payload of a later event to be deleted. Rows of pruned events stay and look the same. */
async function strayMarks(store: Store, { strays }: WorkspaceMarks): Promise<Problem[]> {
  if (strays.length === 0) return []
  const { newestPosition: newest, prunedEvents } = await store.info('newestPosition', 'prunedEvents')
  return strays
    .filter(({ position }) => position > newest || prunedEvents === 0)
    .map(({ position, table }) => ({
      runId: '',
      seq: null,
      problem: 'stray_row',
      detail: `a row of ${table} stands at position ${position}, where there is no event`,
    }))
}
