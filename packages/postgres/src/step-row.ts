import { packStep, type StepSkeleton, unpackStep } from '@clew/ledger'
import { arraysOf, type Column, rowsFrom } from './columns.ts'
import { hexOf } from './event-row.ts'
import { indexText } from './index-text.ts'
import type { Row } from './sql.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const DIGEST = /^(?:[0-9a-f]{32}){1,2}$/

/** What is read of a step's row `s`. */
export const STEP_COLUMNS = 's.step_id, s.step_text, s.attempt, s.started_seq, s.record, s.span, s.digest'

export interface StepRow {
  readonly run: number
  readonly step: StepSkeleton
  readonly key: string
  /** Span and digest are kept as bytes if both are, else in the record as they are. */
  readonly areBytes: boolean
}

/** A row to be written; `run` is the key of its run's row. */
export function toStepRow(run: number, step: StepSkeleton): StepRow {
  const { stepId, spanId, inputDigest } = step
  const areBytes = UUID.test(spanId) && (inputDigest === null || DIGEST.test(inputDigest))
  return { run, step, key: indexText(stepId), areBytes }
}

export const STEP: readonly Column<StepRow>[] = [
  ['run', 'bigint', (row) => row.run],
  ['step_id', 'text', (row) => row.key],
  ['step_text', 'text', ({ key, step }) => (key === step.stepId ? null : JSON.stringify(step.stepId))],
  ['attempt', 'bigint', (row) => row.step.attempt],
  ['started_seq', 'bigint', (row) => row.step.startedSeq],
  ['record', 'text', (row) => packStep(row.step, row.areBytes)],
  ['span', 'bytea', ({ areBytes, step }) => (areBytes ? step.spanId : null)],
  ['digest', 'bytea', ({ areBytes, step }) => (areBytes ? step.inputDigest : null)],
]

/** The rows of steps as FROM gives them, from parameter number `first` on. */
export const stepRows = (first: number): string => rowsFrom(STEP, 's', first)

/** The parameters of `stepRows`. */
export const stepValues = (steps: readonly { run: number; step: StepSkeleton }[]): unknown[] =>
  arraysOf(
    STEP,
    steps.map(({ run, step }) => toStepRow(run, step)),
  )

/** A step from its row, which has `STEP_COLUMNS`. */
export function toStep(runId: string, row: Row): StepSkeleton {
  const span = row['span'] === null ? undefined : hexOf(row['span'])
  const text = row['step_text'] as string | null
  return unpackStep(row['record'] as string, {
    runId,
    stepId: text === null ? (row['step_id'] as string) : (JSON.parse(text) as string),
    attempt: row['attempt'] as number,
    startedSeq: row['started_seq'] as number,
    ...(span !== undefined && {
      spanId: `${span.slice(0, 8)}-${span.slice(8, 12)}-${span.slice(12, 16)}-${span.slice(16, 20)}-${span.slice(20)}`,
      inputDigest: row['digest'] === null ? null : hexOf(row['digest']),
    }),
  })
}
