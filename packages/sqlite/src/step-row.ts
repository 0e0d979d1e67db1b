import { packStep, type StepSkeleton, unpackStep } from '@clew/ledger'
import { fromHex, toHex } from './hex.ts'

export const PUT_STEP = `INSERT INTO steps (run, step_id, attempt, started_seq, record, span, digest)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, step_id, attempt) DO UPDATE
  SET started_seq = excluded.started_seq, record = excluded.record, span = excluded.span, digest = excluded.digest`

export const STEP_COLUMNS = 'step_id, attempt, started_seq, record, span, digest'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const DIGEST = /^(?:[0-9a-f]{32}){1,2}$/

/** Values of `PUT_STEP`. Span and digest are blobs if both have their usual form, else texts in the record. */
export function stepValues(
  run: number,
  step: StepSkeleton,
): [number, string, number, number, string, Buffer | null, Buffer | null] {
  const { stepId, attempt, startedSeq, spanId, inputDigest } = step
  const areBlobs = UUID.test(spanId) && (inputDigest === null || DIGEST.test(inputDigest))
  return [
    run,
    stepId,
    attempt,
    startedSeq,
    packStep(step, areBlobs),
    areBlobs ? fromHex(spanId.replaceAll('-', '')) : null,
    areBlobs && inputDigest !== null ? fromHex(inputDigest) : null,
  ]
}

/** A step from its row, which has `STEP_COLUMNS`. */
export function toStep(runId: string, row: Record<string, unknown>): StepSkeleton {
  const span = row['span'] === null ? undefined : toHex(row['span'])
  return unpackStep(row['record'] as string, {
    runId,
    stepId: row['step_id'] as string,
    attempt: row['attempt'] as number,
    startedSeq: row['started_seq'] as number,
    ...(span !== undefined && {
      spanId: `${span.slice(0, 8)}-${span.slice(8, 12)}-${span.slice(12, 16)}-${span.slice(16, 20)}-${span.slice(20)}`,
      inputDigest: row['digest'] === null ? null : toHex(row['digest']),
    }),
  })
}
