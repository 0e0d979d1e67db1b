import { ClewError } from '@clew/ledger'
import { Cron } from 'croner'
import { type LocalTime, localTimeOf } from './local-time.ts'

/** When something is due: by a cron expression, every so many milliseconds, or once. */
export interface Timing {
  readonly cron?: string | undefined
  readonly everyMs?: number | undefined
  readonly at?: string | undefined
  /** Of `cron`. Default UTC. */
  readonly timeZone?: string | undefined
}

/** The first nominal time after an instant; null if there is none any more. */
export type NextTime = (afterMs: number) => number | null

const MIN_EVERY_MS = 1000
const MAX_EVERY_MS = 366 * 86_400_000

/** Refuses a timing that cannot be read or would never be due. */
export function parseTiming(timing: Timing, nowMs: number): NextTime {
  const { cron, everyMs, at, timeZone } = timing
  const given = [cron, everyMs, at].filter((each) => each !== undefined)
  if (given.length !== 1)
    throw badTiming('cron', 'A schedule has one of cron, every and at', 'Name when it is due, in one way.')
  if (timeZone !== undefined && cron === undefined)
    throw badTiming('timeZone', 'A time zone belongs to a cron expression', 'Leave timeZone out.')
  if (cron !== undefined) return cronTimes(cron, timeZone ?? 'UTC', nowMs)
  if (everyMs !== undefined) return everyTimes(everyMs)
  const atMs = Date.parse(at as string)
  if (Number.isNaN(atMs))
    throw badTiming('at', 'The time `at` cannot be read', 'Use one such as 2026-12-01T08:00:00Z.')
  return (afterMs) => (atMs > afterMs ? atMs : null)
}

/** Whole multiples of the interval since 1970 in UTC, so that they do not depend on when the schedule was set. */
function everyTimes(everyMs: number): NextTime {
  if (!Number.isSafeInteger(everyMs) || everyMs < MIN_EVERY_MS || everyMs > MAX_EVERY_MS)
    throw badTiming('every', 'The interval `every` is out of range', 'Use one from 1s to 366d, such as 15m.')
  return (afterMs) => (Math.floor(afterMs / everyMs) + 1) * everyMs
}

/**
 * The expression is evaluated over local times without a zone, and each is then found in the zone. So a local time fires
 * once: one in a gap at its end, one that exists twice the first time.
 */
function cronTimes(expression: string, timeZone: string, nowMs: number): NextTime {
  const local = localTimeOf(timeZone)
  if (!local)
    throw badTiming(
      'timeZone',
      `There is no time zone ${quote(timeZone)}`,
      'Use a name such as Europe/Berlin.',
    )
  const pattern = parseCron(expression)
  const next = nextOf(pattern, local)
  if (next(nowMs) === null)
    throw badTiming(
      'cron',
      `The cron expression ${quote(expression)} is never due`,
      'Name a day that its month has, such as 28 for February.',
    )
  return next
}

const nextOf =
  (pattern: Cron, local: LocalTime): NextTime =>
  (afterMs) => {
    for (let localMs = local.toLocal(afterMs); ; ) {
      const next = pattern.nextRun(new Date(localMs))
      if (!next) return null
      localMs = next.getTime()
      const instant = local.toInstant(localMs)
      // In the second pass of an hour that exists twice, its local times have been due already.
      if (instant > afterMs) return instant
    }
  }

function parseCron(expression: string): Cron {
  const hint =
    'Write minute, hour, day of month, month and day of week, such as "0 9 * * 1-5", or @daily; seconds are not supported.'
  try {
    const pattern = new Cron(expression, { timezone: 'UTC', paused: true, mode: '5-part' })
    // An ISO time is one of the forms that croner takes: that is `at`.
    if (!/^\s*@|\s/.test(expression.trim()))
      throw badTiming('cron', `${quote(expression)} is no cron expression`, hint)
    return pattern
  } catch (cause) {
    if (cause instanceof ClewError) throw cause
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: /, '').replace(/\.$/, '') : ''
    throw badTiming('cron', `The cron expression ${quote(expression)} cannot be read: ${why}`, hint)
  }
}

export interface Occurrences {
  /** Oldest first. */
  readonly times: readonly number[]
  /** Those before them; `count` is null if there are very many. */
  readonly dropped: { readonly count: number | null; readonly first: number; readonly last: number } | null
}

const MAX_COUNTED = 10_000

/** Occurrences after one instant up to another: the newest, at most `limit` of them. */
export function occurrencesBetween(
  next: NextTime,
  afterMs: number,
  upToMs: number,
  limit: number,
): Occurrences {
  const all: number[] = []
  for (let at = next(afterMs); at !== null && at <= upToMs && all.length <= MAX_COUNTED; at = next(at))
    all.push(at)
  const [first] = all
  if (first === undefined || all.length <= limit) return { times: all, dropped: null }
  const isCounted = all.length <= MAX_COUNTED
  const newest = (isCounted ? all : lookBack(next, upToMs, limit + 1)).slice(-limit - 1)
  const [last = first, ...times] = newest
  return { times, dropped: { count: isCounted ? all.length - times.length : null, first, last } }
}

/** The newest occurrences up to an instant, at least so many, without going through all before them. */
function lookBack(next: NextTime, upToMs: number, wanted: number): number[] {
  for (let spanMs = 1000 * wanted; ; spanMs *= 2) {
    const times: number[] = []
    for (let at = next(upToMs - spanMs); at !== null && at <= upToMs; at = next(at)) times.push(at)
    if (times.length >= wanted) return times
  }
}

/** The next times of a schedule. */
export function nextTimes(
  timing: Timing,
  options: { readonly after?: Date | undefined; readonly count?: number | undefined } = {},
): Date[] {
  const { after = new Date(), count = 5 } = options
  const next = parseTiming(timing, after.getTime())
  const times: Date[] = []
  for (let at = next(after.getTime()); at !== null && times.length < count; at = next(at))
    times.push(new Date(at))
  return times
}

const quote = (text: string): string => JSON.stringify(text.slice(0, 100))

const badTiming = (option: string, message: string, hint: string): ClewError =>
  new ClewError('bad_option', message, `${hint} Nothing was written.`, { option })
