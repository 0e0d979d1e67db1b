import { findRun } from '../store/find-runs.ts'
import { AUDIT_RUN_ID } from '../append/audit-run.ts'
import { textOf } from '../fold/fields.ts'
import { isObject } from '../json.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Store } from '../store/store.ts'

/** The last time that `gc` took something, as the audit book tells it. */
export interface LastGc {
  readonly startedAt: string
  readonly endedAt: string
  readonly by: string | null
  readonly events: number
  readonly runs: number
  readonly rules: readonly string[]
  /** False where it was so long that only its end was looked at. */
  readonly isWhole: boolean
}

const PAGE = 500
/** Events of the audit book that are looked at, from its end. */
const MAX_EVENTS = 10_000
/** Batches of one `gc` follow each other closely. */
const GAP_MS = 60_000
const KEYS = new Set(['events', 'by', 'ranges'])

interface GcReaderParts {
  readonly store: Pick<Store, 'findRuns' | 'readRun'>
  readonly reader: Pick<PayloadReader, 'toPartialEvent'>
  readonly workspace: string
}

/** From the end of the audit book back: costs no more than the last `gc` was long, or than a fixed number of events. */
export async function readLastGc({ store, reader, workspace }: GcReaderParts): Promise<LastGc | null> {
  const key = { workspace, runId: AUDIT_RUN_ID }
  const seq = (await findRun(store, key))?.seq ?? 0
  /** Newest first. */
  const batches: Batch[] = []
  for (let upToSeq = seq; upToSeq > 0; upToSeq -= PAGE) {
    if (seq - upToSeq >= MAX_EVENTS) return told(batches, false)
    const afterSeq = Math.max(0, upToSeq - PAGE)
    const range = { afterSeq, upToSeq, limit: PAGE, types: ['system.range_pruned'] }
    for (const stored of (await store.readRun(key, range)).toReversed()) {
      const { payload } = await reader.toPartialEvent(stored, KEYS)
      const events = Number(payload['events'] ?? 0)
      // Only states of graphs went (R10): nobody asked for a gc.
      if (!(events > 0)) continue
      const ranges = Array.isArray(payload['ranges']) ? (payload['ranges'] as unknown[]).filter(isObject) : []
      const batch = { at: stored.recordedAt, by: textOf(payload['by']), events, ranges }
      const next = batches.at(-1)
      const isAnother = next && (Date.parse(next.at) - Date.parse(batch.at) > GAP_MS || next.by !== batch.by)
      if (isAnother) return told(batches, true)
      batches.push(batch)
    }
  }
  return told(batches, true)
}

interface Batch extends Pick<LastGc, 'by' | 'events'> {
  readonly at: string
  readonly ranges: readonly Readonly<Record<string, unknown>>[]
}

function told(batches: readonly Batch[], isWhole: boolean): LastGc | null {
  const [last] = batches
  const first = batches.at(-1)
  if (!first || !last) return null
  const named = (field: string): string[] => [
    ...new Set(batches.flatMap(({ ranges }) => ranges.flatMap((range) => textOf(range[field]) ?? []))),
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
