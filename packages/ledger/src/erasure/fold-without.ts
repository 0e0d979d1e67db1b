import { project } from '../commit.ts'
import { beginRun, type RunSummary } from '../fold/run-summary.ts'
import { NO_SCORES, NO_TAGS } from '../fold/scores-and-tags.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import type { PayloadReader } from '../payload-reader.ts'
import type { RunReader } from '../run-reader.ts'
import type { Store, StoredEvent, StoredRun } from '../store.ts'
import type { RunDraft } from '../transaction.ts'

interface FoldParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
  readonly workspace: string
}

export interface FoldedRows {
  /** Where the run stood. */
  readonly seq: number
  readonly summary: RunSummary
  readonly steps: readonly StepSkeleton[]
  /** Nothing of its own payloads is left. */
  readonly isWhole: boolean
}

/**
 * The rows of a run as its events fold without some payloads: the same folding as inside an append, so that what is
 * stored stays what a rebuild gives (L1). Of an erased event its type, its time and its place count.
 */
export async function foldWithout(
  { store, reader, runs, workspace }: FoldParts,
  run: StoredRun,
  hidden: { has(seq: number): boolean },
  source: RunSummary | undefined,
): Promise<FoldedRows> {
  const { runId } = run.summary
  const steps = new Map<string, StepSkeleton>()
  const rows = {
    findStep: (_: RunDraft, stepId: string, attempt: number) => steps.get(`${attempt} ${stepId}`),
    putStep: (_: RunDraft, step: StepSkeleton) => void steps.set(`${step.attempt} ${step.stepId}`, step),
  }
  let seq = run.forkOf?.seq ?? 0
  let draft: RunDraft | undefined
  let isWhole = true
  let isComplete = true
  for await (const page of runs.ownEvents(run)) {
    const blanked = page.map((event) => (hidden.has(event.seq) ? withoutPayload(event) : event))
    for (const event of await reader.toPlainEvents(blanked)) {
      draft ??= { ...DRAFT, workspace, runId, summary: beginRun(event, source) }
      project(rows, draft, event)
      if (event.ledger.seq !== seq + 1) isComplete = false
      if (!event.ledger.erased) isWhole = false
      seq = event.ledger.seq
    }
  }
  if (draft && isComplete) return { seq, summary: draft.summary, steps: [...steps.values()], isWhole }
  // Events before were pruned: what is left cannot be folded to the whole, so all that may be content is taken out.
  const stored = await store.readSkeleton({ workspace, runId })
  return { seq: run.seq, summary: bare(run.summary, isWhole), steps: stored.map(bareStep), isWhole }
}

const DRAFT = { id: 0, scope: 0, forkOf: null, seq: 0, hash: '', recordedAt: '' }

export const withoutPayload = (event: StoredEvent): StoredEvent => ({
  ...event,
  body: null,
  salt: null,
  erased: true,
})

const bare = (summary: RunSummary, isWhole: boolean): RunSummary => ({
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
