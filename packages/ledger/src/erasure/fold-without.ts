import { foldStoredRun, stepRowKey } from '../projections/fold-stored-run.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import { NO_SCORES, NO_TAGS } from '../fold/scores-and-tags.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { RunReader } from '../read/run-reader.ts'
import type { Store, StoredRun } from '../store/store.ts'

interface FoldParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
  readonly workspace: string
}

export interface FoldedRows {
  /** Seq of the run at the time of reading. */
  readonly seq: number
  readonly summary: RunSummary
  /** Key: `stepRowKey`. */
  readonly steps: ReadonlyMap<string, StepSkeleton>
}

/** The rows of a run as its events fold without some payloads. Of an erased event its type, its time and its place count. */
export async function foldWithout(
  parts: FoldParts,
  run: StoredRun,
  hidden: { has(seq: number): boolean },
  source: RunSummary | undefined,
): Promise<FoldedRows> {
  let isWhole = true
  const { seq, summary, steps, isComplete } = await foldStoredRun(parts, run, {
    source,
    hidden,
    onEvent({ ledger }) {
      if (!ledger.erased) isWhole = false
    },
  })
  if (summary && isComplete) return { seq, summary, steps }
  // Some events were pruned: the rest does not fold to the whole, so all that may be content is taken out of the rows.
  const stored = await parts.store.readSteps({ workspace: parts.workspace, runId: run.summary.runId })
  return {
    seq: run.seq,
    summary: bare(run.summary, isWhole),
    steps: new Map(stored.map((step) => [stepRowKey(step), bareStep(step)])),
  }
}

const bare = ({ awaits: _awaits, held: _held, ...summary }: RunSummary, isWhole: boolean): RunSummary => ({
  ...summary,
  ...(isWhole && { threadId: null, subjects: [] }),
  pauses: [],
  error: summary.error && { ...summary.error, message: null },
  tags: NO_TAGS,
  scores: NO_SCORES,
})

const bareStep = (step: StepSkeleton): StepSkeleton => ({
  ...step,
  error: step.error && { ...step.error, message: null },
  pause: null,
  decision: null,
  inputDigest: null,
})
