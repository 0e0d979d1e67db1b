import { isSystemRun } from '../event/system-run.ts'
import type { Store, StoredRun } from '../store/store.ts'
import { daysAgo, GROWTH_DAYS, type GrowthMark } from './growth.ts'

/** Look-ups of single events, over all runs that went on for more than a day. */
const MAX_LOOKUPS = 4000

interface GrowthParts {
  readonly store: Pick<Store, 'readRun'>
  readonly workspace: string
  readonly nowMs: number
}

interface GrowthMarks {
  readonly marks: readonly GrowthMark[]
  readonly isExact: boolean
}

/**
 * When the events of these runs were recorded, by the rows of the runs: most lie within one stretch of 24 hours. Runs and
 * system runs that went on for longer are halved by seq, for within a run times never go back; no range of events is read.
 */
export async function readGrowth(
  { store, workspace, nowMs }: GrowthParts,
  runs: Iterable<StoredRun>,
  mostLookups = MAX_LOOKUPS,
): Promise<GrowthMarks> {
  const dayOf = (atMs: number): number => Math.min(GROWTH_DAYS, daysAgo(nowMs, atMs))
  const marks: GrowthMark[] = []
  const mark = (atMs: number, events: number): void => void marks.push({ atMs, events, runs: 0 })
  const spanning: StoredRun[] = []
  for (const run of runs) {
    const { summary, recordedAt } = run
    const lastMs = Date.parse(recordedAt)
    const beganMs = Math.min(Date.parse(summary.startedAt), lastMs)
    if (!isSystemRun(summary.runId)) marks.push({ atMs: beganMs, events: 0, runs: 1 })
    // Only the end of a deleted run is known.
    if (dayOf(beganMs) === dayOf(lastMs) || summary.status === 'deleted') mark(lastMs, ownEvents(run))
    else spanning.push(run)
  }
  let left = mostLookups
  let isExact = true
  // The largest first: where look-ups run out, little is counted on the wrong day.
  for (const run of spanning.toSorted((a, b) => ownEvents(b) - ownEvents(a))) {
    const { runId } = run.summary
    const timeAt = async (seq: number): Promise<number> => {
      left--
      const [event] = await store.readRun({ workspace, runId }, { afterSeq: seq - 1, limit: 1 })
      return Date.parse(event?.recordedAt ?? run.recordedAt)
    }
    const lastMs = Date.parse(run.recordedAt)
    if (left <= 0) {
      isExact = false
      mark(lastMs, ownEvents(run))
      continue
    }
    const first = run.seq - ownEvents(run) + 1
    const firstMs = await timeAt(first)
    mark(firstMs, 1)
    const parts = [{ after: first, afterMs: firstMs, to: run.seq, toMs: lastMs }]
    for (let part = parts.pop(); part; part = parts.pop()) {
      const { after, afterMs, to, toMs } = part
      if (dayOf(afterMs) === dayOf(toMs) || to - after <= 1) {
        mark(toMs, to - after)
        continue
      }
      const middle = Math.floor((after + to) / 2)
      const middleMs = await timeAt(middle)
      parts.push(
        { after, afterMs, to: middle, toMs: middleMs },
        { after: middle, afterMs: middleMs, to, toMs },
      )
    }
  }
  return { marks, isExact }
}

export const ownEvents = ({ seq, forkOf }: StoredRun): number => seq - (forkOf?.seq ?? 0)
