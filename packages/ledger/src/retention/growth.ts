export const DAY_MS = 86_400_000
/** Period over which growth is reported. */
export const GROWTH_DAYS = 30
const WEEK_DAYS = 7

/** Events and runs recorded in 24 hours. */
export interface GrowthDay {
  /** When these 24 hours begin. */
  readonly from: string
  readonly events: number
  /** Runs that began. */
  readonly runs: number
}

export interface GrowthRate {
  /** Over how many days it is taken: fewer than asked for where the record is younger. */
  readonly days: number
  readonly eventsPerDay: number
  readonly runsPerDay: number
  /** About: by what an event of this store takes on average. */
  readonly bytesPerDay: number
}

export interface Growth {
  /** Stretches of 24 hours, oldest first, the last one up to now; none before the oldest record. */
  readonly days: readonly GrowthDay[]
  /** The last 7 days; null while the record is younger than a day, too short for an estimate. */
  readonly week: GrowthRate | null
  readonly month: GrowthRate | null
  /** Size of the store in 30 days at the pace of the last 7, if nothing is deleted. */
  readonly bytesIn30Days: number | null
  /** False where only a part was looked at: then it is at least this much. */
  readonly isExact: boolean
}

/** Number of events recorded around this time. */
export interface GrowthMark {
  readonly atMs: number
  readonly events: number
  readonly runs: number
}

export interface GrowthFacts {
  readonly nowMs: number
  /** When the oldest event was recorded; null without any. */
  readonly oldestMs: number | null
  readonly bytes: number
  readonly bytesPerEvent: number
  readonly isExact: boolean
}

/** The stretch of 24 hours that a time falls into, counted back from now. What a clock that went back calls the future is today. */
export const daysAgo = (nowMs: number, atMs: number): number =>
  Math.max(0, Math.ceil((nowMs - atMs) / DAY_MS) - 1)

/** Growth as a fold over what was recorded when. */
export function foldGrowth(facts: GrowthFacts, marks: Iterable<GrowthMark>): Growth {
  const { nowMs, oldestMs, bytes, bytesPerEvent, isExact } = facts
  const ageDays = oldestMs === null ? 0 : Math.max(0, (nowMs - oldestMs) / DAY_MS)
  const count = oldestMs === null ? 0 : Math.min(GROWTH_DAYS, Math.max(1, Math.ceil(ageDays)))
  const days = Array.from({ length: count }, () => ({ events: 0, runs: 0 }))
  for (const { atMs, events, runs } of marks) {
    const day = days[daysAgo(nowMs, atMs)]
    if (!day) continue
    day.events += events
    day.runs += runs
  }
  const rate = (most: number): GrowthRate | null => {
    if (ageDays < 1) return null
    const over = Math.min(most, ageDays)
    const seen = days.slice(0, most)
    const eventsPerDay = seen.reduce((sum, { events }) => sum + events, 0) / over
    const runsPerDay = seen.reduce((sum, { runs }) => sum + runs, 0) / over
    return {
      days: tenths(over),
      eventsPerDay: tenths(eventsPerDay),
      runsPerDay: tenths(runsPerDay),
      bytesPerDay: Math.round(eventsPerDay * bytesPerEvent),
    }
  }
  const week = rate(WEEK_DAYS)
  return {
    days: days
      .map(({ events, runs }, ago) => ({
        from: new Date(nowMs - (ago + 1) * DAY_MS).toISOString(),
        events,
        runs,
      }))
      .toReversed(),
    week,
    month: rate(GROWTH_DAYS),
    bytesIn30Days: week && bytes + GROWTH_DAYS * week.bytesPerDay,
    isExact,
  }
}

const tenths = (value: number): number => Math.round(value * 10) / 10
