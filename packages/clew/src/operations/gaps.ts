import { asOwn, AUDIT_RUN_ID, type Ledger, type RunSummary } from '@clew/ledger'
import { z } from 'zod'

/** A part of a run that can no longer be read. */
export const runGap = z.object({
  kind: z.enum(['erased', 'pruned']),
  fromSeq: z.int(),
  toSeq: z.int(),
  at: z.string(),
  /** Null if no actor is named. */
  by: z.string().nullable(),
  /** Rule by which a pruned range was deleted. */
  rule: z.string().nullable(),
})
export type RunGap = z.output<typeof runGap>

/** Reads erased and pruned ranges of a run, inherited ones included, from the audit run. */
export async function readGaps(ledger: Ledger, run: RunSummary): Promise<RunGap[]> {
  const upTo = new Map<string, number>()
  for (let at: RunSummary | null = run, most = Number.MAX_SAFE_INTEGER; at && !upTo.has(at.runId); ) {
    upTo.set(at.runId, most)
    most = Math.min(most, at.forkedFrom?.seq ?? 0)
    at = at.forkedFrom && (await ledger.getRun(at.forkedFrom.runId))
  }
  const gaps: RunGap[] = []
  for (const [runId, most] of upTo)
    for (const { fromSeq, toSeq, at, by, rule } of await ledger.pruned(runId))
      if (fromSeq <= most) gaps.push({ kind: 'pruned', fromSeq, toSeq: Math.min(toSeq, most), at, by, rule })
  for await (const event of ledger.read(AUDIT_RUN_ID, { types: ['system.payload_erased'] })) {
    const own = asOwn(event)
    if (own?.eventType !== 'system.payload_erased') continue
    const { ranges = [], by = null } = own.payload
    const at = own.ledger.recordedAt
    for (const { runId, fromSeq, toSeq } of partsOf(ranges)) {
      const most = runId === undefined ? undefined : upTo.get(runId)
      if (most !== undefined && fromSeq <= most)
        gaps.push({ kind: 'erased', fromSeq, toSeq: Math.min(toSeq, most), at, by, rule: null })
    }
  }
  return gaps.sort((a, b) => a.fromSeq - b.fromSeq)
}

/** The parts of ranges of which only some events went. */
const partsOf = (ranges: readonly Range[]): Range[] =>
  ranges.flatMap(({ seqs, ...range }) =>
    seqs ? seqs.map(([fromSeq = 0, toSeq = 0]) => ({ ...range, fromSeq, toSeq })) : [range],
  )

interface Range {
  readonly runId?: string | undefined
  readonly fromSeq: number
  readonly toSeq: number
  readonly seqs?: readonly (readonly number[])[] | undefined
}
