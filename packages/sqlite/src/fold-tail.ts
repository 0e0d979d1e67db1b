import type { DatabaseSync } from 'node:sqlite'
import {
  type ClewEvent,
  type Payload,
  project,
  type RunDraft,
  type RunSummary,
  type StepSkeleton,
  type StoredEvent,
  upcastEvent,
  withPayload,
} from '@clew/ledger'
import { EVENT_COLUMNS, toStoredEvent } from './event-row.ts'
import { STEP_COLUMNS, toStep } from './step-row.ts'

export const stepKeyOf = (stepId: string, attempt: number): string => `${attempt} ${stepId}`

export interface Folded {
  readonly summary: RunSummary
  /** Steps that the rows do not have yet, or not as they are now; by `stepKeyOf`. */
  readonly steps: Map<string, StepSkeleton>
}

/**
 * The summary of a run, and the steps that its events changed since their rows were written. Row and events must be of
 * one snapshot. The row has `id`, `workspace`, `run_id`, `seq`, `folded_seq` and `summary`.
 */
export function createTailFold(db: DatabaseSync): (row: Record<string, unknown>) => Folded {
  const tail = db.prepare(
    `SELECT ${EVENT_COLUMNS} WHERE e.run = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq`,
  )
  const findStep = db.prepare(
    `SELECT ${STEP_COLUMNS} FROM steps WHERE run = ? AND step_id = ? AND attempt = ?`,
  )
  return (row) => {
    const steps = new Map<string, StepSkeleton>()
    const summary = JSON.parse(row['summary'] as string) as RunSummary
    const [id, seq, foldedSeq] = [row['id'] as number, row['seq'] as number, row['folded_seq'] as number]
    if (foldedSeq >= seq) return { summary, steps }
    const runId = row['run_id'] as string
    const draft: RunDraft = {
      id,
      workspace: row['workspace'] as string,
      runId,
      scope: 0,
      forkOf: null,
      seq,
      hash: '',
      recordedAt: '',
      summary,
    }
    const rows = {
      findStep(_: RunDraft, stepId: string, attempt: number): StepSkeleton | undefined {
        const known = steps.get(stepKeyOf(stepId, attempt))
        if (known) return known
        const found = findStep.get(id, stepId, attempt)
        return found && toStep(runId, found)
      },
      putStep: (_: RunDraft, step: StepSkeleton) =>
        void steps.set(stepKeyOf(step.stepId, step.attempt), step),
    }
    for (const each of tail.all(id, foldedSeq, seq)) project(rows, draft, toEvent(toStoredEvent(each)))
    return { summary: draft.summary, steps }
  }
}

const toEvent = (stored: StoredEvent): ClewEvent => upcastEvent(withPayload(stored, toPayload(stored.body)))

/** Only whole payloads are folded from here. One that somebody damaged counts by its type; `verify` names it. */
function toPayload(body: string | null): Payload {
  try {
    return JSON.parse(body ?? '{}') as Payload
  } catch {
    return {}
  }
}
