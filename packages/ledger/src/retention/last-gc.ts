import { findRun } from '../store/find-runs.ts'
import { asOwn, type PayloadOf } from '../catalogue/catalogue.ts'
import { AUDIT_RUN_ID } from '../append/audit-run.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Store } from '../store/store.ts'

/** The last `gc` that deleted something, read from the audit run. */
export interface LastGc {
  readonly startedAt: string
  readonly endedAt: string
  readonly by: string | null
  readonly events: number
  readonly runs: number
  readonly rules: readonly string[]
  /** False if the record was so long that only its end was read. */
  readonly isWhole: boolean
}

const PAGE = 500
/** Limit of audit events that are read, from the newest back. */
const MAX_EVENTS = 10_000
/** Batches further apart than this belong to different `gc` calls. */
const GAP_MS = 60_000
const KEYS = new Set(['events', 'by', 'ranges'])

interface GcReaderParts {
  readonly store: Pick<Store, 'findRuns' | 'readRun'>
  readonly reader: Pick<PayloadReader, 'toPartialEvent'>
  readonly workspace: string
}

/** Reads the audit run backwards until the batch before the last `gc`, or until the limit. */
export async function readLastGc({ store, reader, workspace }: GcReaderParts): Promise<LastGc | null> {
  const key = { workspace, runId: AUDIT_RUN_ID }
  const seq = (await findRun(store, key))?.seq ?? 0
  /** Newest first. */
  const batches: Batch[] = []
  for (let upToSeq = seq; upToSeq > 0; upToSeq -= PAGE) {
    if (seq - upToSeq >= MAX_EVENTS) return summarize(batches, false)
    const afterSeq = Math.max(0, upToSeq - PAGE)
    const range = { afterSeq, upToSeq, limit: PAGE, types: ['system.range_pruned'] }
    for (const stored of (await store.readRun(key, range)).toReversed()) {
      const event = asOwn(await reader.toPartialEvent(stored, KEYS))
      if (event?.eventType !== 'system.range_pruned') continue
      const { events = 0, ranges = [], by = null } = event.payload
      // Zero events: a state policy deleted graph states (R10), which is not a `gc`.
      if (events === 0) continue
      const batch = { at: stored.recordedAt, by, events, ranges }
      const next = batches.at(-1)
      const isAnother = next && (Date.parse(next.at) - Date.parse(batch.at) > GAP_MS || next.by !== batch.by)
      if (isAnother) return summarize(batches, true)
      batches.push(batch)
    }
  }
  return summarize(batches, true)
}

type PrunedRangeFields = NonNullable<PayloadOf<'system.range_pruned'>['ranges']>[number]

interface Batch extends Pick<LastGc, 'by' | 'events'> {
  readonly at: string
  readonly ranges: readonly PrunedRangeFields[]
}

function summarize(batches: readonly Batch[], isWhole: boolean): LastGc | null {
  const [last] = batches
  const first = batches.at(-1)
  if (!first || !last) return null
  const named = (field: 'runId' | 'rule'): string[] => [
    ...new Set(batches.flatMap(({ ranges }) => ranges.flatMap((range) => range[field] ?? []))),
  ]
  return {
    startedAt: first.at,
    endedAt: last.at,
    by: last.by,
    events: batches.reduce((sum, { events }) => sum + events, 0),
    runs: named('runId').length,
    rules: named('rule').toReversed(),
    isWhole,
  }
}
