import { findRun } from '../store/find-runs.ts'
import { CHECKPOINT_KEYS, checkpointOf } from '../fold/checkpoint.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { RunReader } from '../read/run-reader.ts'
import type { Store, StoredEvent, StoredRun } from '../store/store.ts'

interface ExportParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
  readonly workspace: string
}

/** Part of a run that an export contains: its own events up to this one. */
export interface RunPart {
  readonly run: StoredRun
  readonly upToSeq: number
}

/**
 * Exports a run with all runs that it depends on (L11), so that elsewhere it can be read, resumed and replayed: its
 * child runs, and, up to the event where it takes over from them, the runs it was forked from and the turns whose
 * state it continues. A fork comes after its source.
 */
export async function relatedRuns(
  { store, reader, runs, workspace }: ExportParts,
  runId: string,
): Promise<RunPart[]> {
  const parts = new Map<string, RunPart & { readonly position: number }>()
  const wanted = [{ runId, upToSeq: Number.MAX_SAFE_INTEGER }]
  for (let next = wanted.pop(); next; next = wanted.pop()) {
    const run = await findRun(store, { workspace, runId: next.runId })
    // A child that was announced and never began.
    if (!run) continue
    const upToSeq = Math.min(next.upToSeq, run.seq)
    if ((parts.get(next.runId)?.upToSeq ?? 0) >= upToSeq) continue
    const afterSeq = run.forkOf?.seq ?? 0
    const [first] = await store.readRun({ workspace, runId: next.runId }, { afterSeq, limit: 1 })
    parts.set(next.runId, { run, upToSeq, position: first?.position ?? 0 })
    wanted.push(...(await standsOn(run, upToSeq)))
  }
  return [...parts.values()].toSorted((a, b) => a.position - b.position)

  async function standsOn(run: StoredRun, upToSeq: number): Promise<{ runId: string; upToSeq: number }[]> {
    const { summary, forkOf } = run
    const found: { runId: string; upToSeq: number }[] = []
    if (forkOf) found.push({ runId: forkOf.runId, upToSeq: forkOf.seq })
    if (summary.forkedFrom) {
      // The fork names it as its source, though the shared events may be older than its own first one.
      const source = await findRun(store, { workspace, runId: summary.forkedFrom.runId })
      const firstOwn = (source?.forkOf?.seq ?? 0) + 1
      found.push({ runId: summary.forkedFrom.runId, upToSeq: Math.max(firstOwn, summary.forkedFrom.seq) })
    }
    for (const { childRunId, startedSeq } of await store.readSteps({ workspace, runId: summary.runId }))
      if (childRunId !== null && startedSeq <= upToSeq)
        found.push({ runId: childRunId, upToSeq: Number.MAX_SAFE_INTEGER })
    for await (const page of runs.ownEvents(run, { upToSeq, types: ['execution.checkpoint'] }))
      for (const stored of page) {
        const checkpoint = checkpointOf(await reader.toPartialEvent(stored, CHECKPOINT_KEYS))
        if (checkpoint?.from && !checkpoint.state)
          found.push({ runId: checkpoint.from.runId, upToSeq: checkpoint.from.seq })
      }
    return found
  }
}

/** The events of these parts, one run after the other. */
export async function* partEvents(
  { runs }: Pick<ExportParts, 'runs'>,
  parts: readonly RunPart[],
): AsyncGenerator<StoredEvent[]> {
  for (const { run, upToSeq } of parts) yield* runs.ownEvents(run, { upToSeq })
}
