import { packStep, type StepSkeleton, unpackStep } from '@clew/ledger'
import { hexOf } from './event-row.ts'
import { indexText, indexTextOrNull } from './index-text.ts'
import type { Row } from './sql.ts'
import { bytesOf, type Column } from './unnest.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const DIGEST = /^(?:[0-9a-f]{32}){1,2}$/

/** Columns of a step's row `s` as they are read. */
export const STEP_COLUMNS = 's.step_id, s.step_text, s.attempt, s.started_seq, s.record, s.span, s.digest'

/** A step to be written; `run` is the key of its run's row. */
export interface StepRow {
  readonly run: number
  readonly step: StepSkeleton
}

/** Span and digest are stored as bytes if both can be, else in the record. */
const hasBytes = ({ step: { spanId, inputDigest } }: StepRow): boolean =>
  UUID.test(spanId) && (inputDigest === null || DIGEST.test(inputDigest))

export const STEP: readonly Column<StepRow>[] = [
  ['run', 'bigint', ({ run }) => run],
  ['step_id', 'text', ({ step }) => indexText(step.stepId)],
  ['attempt', 'bigint', ({ step }) => step.attempt],
  [
    'step_text',
    'text',
    ({ step: { stepId } }) => (indexText(stepId) === stepId ? null : JSON.stringify(stepId)),
  ],
  ['parent', 'text', ({ step }) => indexTextOrNull(step.parentStepId)],
  ['started_seq', 'bigint', ({ step }) => step.startedSeq],
  ['record', 'text', (row) => packStep(row.step, hasBytes(row))],
  ['span', 'bytea', (row) => (hasBytes(row) ? bytesOf(row.step.spanId.replaceAll('-', '')) : null)],
  ['digest', 'bytea', (row) => (hasBytes(row) ? bytesOf(row.step.inputDigest) : null)],
]

/** Names of the columns that change with a step, each set to its value in the row `alias`. */
export const stepChanges = (alias: string): string =>
  STEP.slice(3)
    .map(([name]) => `${name} = ${alias}.${name}`)
    .join(', ')

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
