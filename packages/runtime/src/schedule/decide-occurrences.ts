import type { Occurrences } from './occurrences.ts'
import type { ScheduleSkip } from './read-schedule.ts'
import type { ScheduleDefinition } from './schedule-definition.ts'

/** An occurrence is late, and a matter of `catchUp`, if no scheduler has come to it for this long. */
const LATE_MS = 60_000
/** Of missed occurrences the newest so many are caught up. */
export const MAX_CATCH_UP = 100

export interface OccurrenceDecision {
  /** Nominal times that get a run, oldest first. */
  readonly fired: readonly number[]
  readonly skipped: readonly ScheduleSkip[]
}

/** Which of the occurrences that are due get a run (W5). `isBusy`: an earlier run of the schedule goes on. */
export function decideOccurrences(
  { catchUp, overlap }: Pick<ScheduleDefinition, 'catchUp' | 'overlap'>,
  { times, dropped }: Occurrences,
  nowMs: number,
  isBusy: boolean,
): OccurrenceDecision {
  const late = times.filter((at) => nowMs - at > LATE_MS)
  const onTime = times.slice(late.length)
  const caughtUp = catchUp === 'all' ? late : catchUp === 'one' && onTime.length === 0 ? late.slice(-1) : []
  const missed = late.slice(0, late.length - caughtUp.length)
  const due = [...caughtUp, ...onTime]
  const fired = overlap !== 'skip' ? due : isBusy ? [] : due.slice(0, 1)
  const tooMany = due.slice(fired.length)
  return { fired, skipped: [...lateSkips(dropped, missed), ...skips('overlap', tooMany)] }
}

function lateSkips(dropped: Occurrences['dropped'], missed: readonly number[]): ScheduleSkip[] {
  if (!dropped) return skips('late', missed)
  const count = dropped.count === null ? null : dropped.count + missed.length
  return [{ reason: 'late', count, fromAt: toIso(dropped.first), toAt: toIso(missed.at(-1) ?? dropped.last) }]
}

function skips(reason: ScheduleSkip['reason'], times: readonly number[]): ScheduleSkip[] {
  const [first] = times
  if (first === undefined) return []
  return [{ reason, count: times.length, fromAt: toIso(first), toAt: toIso(times.at(-1) ?? first) }]
}

const toIso = (ms: number): string => new Date(ms).toISOString()
