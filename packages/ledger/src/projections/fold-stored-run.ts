import { project } from '../store/commit.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { beginRun, type RunSummary } from '../fold/run-summary.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { RunReader } from '../read/run-reader.ts'
import type { RunKey, StoredEvent, StoredRun } from '../store/store.ts'
import type { MutableRun } from '../store/transaction.ts'

interface FoldParts {
  readonly reader: PayloadReader
  readonly runs: RunReader
}

interface FoldOptions {
  /** Summary of the run that this one was forked from. */
  readonly source: RunSummary | undefined
  readonly upToSeq?: number | undefined
  /** Events to fold as if their payload was erased. */
  readonly hidden?: { has(seq: number): boolean } | undefined
  /** Called after each event, with the summary up to it. */
  readonly onEvent?: ((event: ClewEvent, summary: RunSummary, stored: StoredEvent) => void) | undefined
}

export interface FoldedRun {
  /** Undefined for a run without events. */
  readonly summary: RunSummary | undefined
  /** Key: `stepRowKey`; order: start of the steps. */
  readonly steps: ReadonlyMap<string, StepSkeleton>
  /** Seq of the last event. */
  readonly seq: number
  /** False if events are missing in between or at the beginning. */
  readonly isComplete: boolean
}

export const stepRowKey = ({ stepId, attempt }: Pick<StepSkeleton, 'stepId' | 'attempt'>): string =>
  `${attempt} ${stepId}`

interface RunFold {
  /** Key: `stepRowKey`; order: start of the steps. */
  readonly steps: ReadonlyMap<string, StepSkeleton>
  /** Undefined before the first event. */
  summary(): RunSummary | undefined
  apply(event: ClewEvent): RunSummary
}

/** Folds events of a run as an append does (L1), over rows in memory. `source` is the summary of the run it was forked from. */
export function createRunFold(key: RunKey, source: RunSummary | undefined): RunFold {
  const steps = new Map<string, StepSkeleton>()
  const rows = {
    findStep: (_: MutableRun, stepId: string, attempt: number) => steps.get(stepRowKey({ stepId, attempt })),
    putStep: (_: MutableRun, step: StepSkeleton) => void steps.set(stepRowKey(step), step),
  }
  let run: MutableRun | undefined
  return {
    steps,
    summary: () => run?.summary,
    apply(event) {
      run ??= { ...NO_ROW, ...key, summary: beginRun(event, source) }
      project(rows, run, event)
      return run.summary
    },
  }
}

const NO_ROW = { id: 0, scope: 0, forkOf: null, seq: 0, hash: '', recordedAt: '' }

/** Folds the stored events of a run, one page in memory at a time. */
export async function foldStoredRun(
  { reader, runs }: FoldParts,
  run: StoredRun,
  { source, upToSeq, hidden, onEvent }: FoldOptions,
): Promise<FoldedRun> {
  const fold = createRunFold({ workspace: run.workspace, runId: run.summary.runId }, source)
  let seq = run.forkOf?.seq ?? 0
  let isComplete = true
  for await (const page of runs.ownEvents(run, { upToSeq })) {
    const stored = hidden
      ? page.map((event) => (hidden.has(event.seq) ? withoutPayload(event) : event))
      : page
    for (const [at, event] of (await reader.toPlainEvents(stored)).entries()) {
      const summary = fold.apply(event)
      if (event.ledger.seq !== seq + 1) isComplete = false
      seq = event.ledger.seq
      onEvent?.(event, summary, stored[at] as StoredEvent)
    }
  }
  return { summary: fold.summary(), steps: fold.steps, seq, isComplete }
}

const withoutPayload = (event: StoredEvent): StoredEvent => ({
  ...event,
  body: null,
  salt: null,
  erased: true,
})
