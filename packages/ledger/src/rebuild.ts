import { differingColumns } from './check-projections.ts'
import { project } from './commit.ts'
import type { ClewEvent } from './envelope.ts'
import { beginRun } from './fold/run-summary.ts'
import type { StepSkeleton } from './fold/steps.ts'
import { nextTurn } from './next-turn.ts'
import type { PayloadReader } from './payload-reader.ts'
import type { Ports } from './ports.ts'
import { PROJECTION_VERSION } from './projection-version.ts'
import type { RunKey, Store, StoredRun } from './store.ts'
import type { RunDraft } from './transaction.ts'

export interface RebuildOptions {
  /** Told how many runs are done; what it throws ends the rebuild, which goes on from there the next time. */
  readonly onProgress?: ((runs: number) => void) | undefined
}

export interface RebuildReport {
  readonly version: number
  readonly runs: number
  /** Runs whose stored rows were not what their events fold to. */
  readonly changed: number
  /** Runs that keep their rows because part of their events is pruned: what is left would tell less. */
  readonly kept: number
}

interface RebuildParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly ports: Pick<Ports, 'now' | 'defer'>
}

const PAGE = 500
const RUNS = 100
/** Rows of one transaction: a few milliseconds, which is all that a writer ever waits. */
const ROWS = 200
const MARK_MS = 500

/**
 * Makes the stored rows of runs and steps again from the events, in all workspaces, oldest run first. Writers go on:
 * rows are replaced only while their run stands where it was folded to, and where it does not, it is folded on.
 */
export async function rebuildProjections(
  parts: RebuildParts,
  { onProgress }: RebuildOptions,
): Promise<RebuildReport> {
  const { projections } = parts.store
  const before = await projections.state()
  const isResumed = before.rebuilding?.version === PROJECTION_VERSION
  let after = isResumed ? (before.rebuilding?.afterRun ?? 0) : 0
  let markedMs = parts.ports.now()
  const counts = { runs: 0, changed: 0, kept: 0 }
  const mark = (afterRun: number): Promise<void> =>
    projections.mark({ version: before.version, rebuilding: { version: PROJECTION_VERSION, afterRun } })
  await mark(after)
  for (;;) {
    const page = await projections.runs(after, RUNS)
    for (const { key, run } of page) {
      const outcome = await rebuildRun(parts, run)
      if (outcome !== 'same') counts[outcome]++
      counts.runs++
      after = key
      onProgress?.(counts.runs)
      if (parts.ports.now() - markedMs < MARK_MS) continue
      await mark(after)
      markedMs = parts.ports.now()
    }
    if (page.length < RUNS) break
  }
  await projections.mark({ version: PROJECTION_VERSION, rebuilding: null })
  return { version: PROJECTION_VERSION, ...counts }
}

async function rebuildRun(parts: RebuildParts, run: StoredRun): Promise<'same' | 'changed' | 'kept'> {
  const { store } = parts
  const key: RunKey = { workspace: run.workspace, runId: run.summary.runId }
  const folding = await beginFolding(parts, run)
  let changed = false
  for (;;) {
    if (!(await folding.goOn())) return 'kept'
    const stored = await store.findRun(key)
    if (!stored || !folding.summary()) return 'kept'
    if (stored.seq > folding.seq()) continue
    const { steps, gone } = compareSteps(await store.readSkeleton(key), folding.steps)
    const summary = folding.summary()
    const rows = await store.projections.rows(key)
    const isSame =
      JSON.stringify(stored.summary) === JSON.stringify(summary) &&
      rows !== null &&
      differingColumns(stored.summary, rows).length === 0
    if (isSame && steps.length === 0 && gone.length === 0) return changed ? 'changed' : 'same'
    changed = true
    const seq = folding.seq()
    for (let at = 0; at < Math.max(steps.length, gone.length); at += ROWS) {
      const rows = { steps: steps.slice(at, at + ROWS), gone: gone.slice(at, at + ROWS) }
      if (!(await store.projections.replace(key, { seq, ...rows }))) break
      await nextTurn(parts.ports)
    }
    await store.projections.replace(key, { seq, summary, steps: [], gone: [] })
  }
}

interface Folding {
  readonly steps: ReadonlyMap<string, StepSkeleton>
  seq(): number
  summary(): RunDraft['summary'] | undefined
  /** Folds what has been appended since; false when events are missing. */
  goOn(): Promise<boolean>
}

const idOf = (step: Pick<StepSkeleton, 'stepId' | 'attempt'>): string => `${step.attempt} ${step.stepId}`

/** The same folding as inside an append, over rows held here. */
async function beginFolding({ store, reader, ports }: RebuildParts, run: StoredRun): Promise<Folding> {
  const key: RunKey = { workspace: run.workspace, runId: run.summary.runId }
  const named = run.summary.forkedFrom
  const source = named ? await store.findRun({ workspace: run.workspace, runId: named.runId }) : null
  const steps = new Map<string, StepSkeleton>()
  const rows = {
    findStep: (_: RunDraft, stepId: string, attempt: number) => steps.get(idOf({ stepId, attempt })),
    putStep: (_: RunDraft, step: StepSkeleton) => void steps.set(idOf(step), step),
  }
  let seq = run.forkOf?.seq ?? 0
  let draft: RunDraft | undefined

  function apply(event: ClewEvent): void {
    draft ??= {
      ...key,
      id: 0,
      scope: 0,
      forkOf: null,
      seq: 0,
      hash: '',
      recordedAt: '',
      summary: beginRun(event, source?.summary),
    }
    project(rows, draft, event)
    seq = event.ledger.seq
  }

  return {
    steps,
    seq: () => seq,
    summary: () => draft?.summary,
    async goOn() {
      for (;;) {
        const page = await store.readRun(key, { afterSeq: seq, limit: PAGE })
        for (const event of await reader.toPlainEvents(page)) {
          if (event.ledger.seq !== seq + 1 || (event.ledger.pruned && event.ledger.erased)) return false
          apply(event)
        }
        await nextTurn(ports)
        if (page.length < PAGE) return true
      }
    },
  }
}

function compareSteps(
  stored: readonly StepSkeleton[],
  folded: ReadonlyMap<string, StepSkeleton>,
): { steps: StepSkeleton[]; gone: StepSkeleton[] } {
  const before = new Map(stored.map((step) => [idOf(step), JSON.stringify(step)]))
  const steps = [...folded].filter(([id, step]) => before.get(id) !== JSON.stringify(step))
  return { steps: steps.map(([, step]) => step), gone: stored.filter((step) => !folded.has(idOf(step))) }
}
