import { ClewError, createDeriver, type Ledger, type PayloadOf, systemRunId } from '@clew/ledger'
import { sha256 } from '../machine/run-appender.ts'
import { checkName } from '../options/check-options.ts'
import type { Timing } from './occurrences.ts'

export const CATCH_UPS = ['skip', 'one', 'all'] as const
export const OVERLAPS = ['skip', 'queue', 'allow'] as const

/** What is submitted with each run of a schedule. */
export interface ScheduledRun {
  readonly input?: unknown
  readonly queue?: string | undefined
  readonly key?: string | undefined
  readonly priority?: number | undefined
  /** Of each run, from its submission. */
  readonly deadlineMs?: number | undefined
  readonly threadId?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
  readonly subjects?: readonly string[] | undefined
}

export interface ScheduleOptions extends ScheduledRun {
  /** 1 to 100 letters, digits and the characters . _ - */
  readonly id: string
  /** Five fields, such as `0 9 * * 1-5`, or `@daily`. */
  readonly cron?: string | undefined
  /** `90s`, `15m`, `1h`, `7d` or milliseconds: at whole multiples since 1970 in UTC. */
  readonly every?: string | number | undefined
  /** Once, at this time. */
  readonly at?: string | Date | undefined
  /** Of `cron`: a name such as Europe/Berlin. Default UTC. */
  readonly timeZone?: string | undefined
  /**
   * What runs for occurrences that are more than a minute late: nothing (default), one run for all of them (default of
   * `at`), or a run for each, at most 100.
   */
  readonly catchUp?: (typeof CATCH_UPS)[number] | undefined
  /** While an earlier run of the schedule goes on: no run, a run that waits its turn on one thread, or one at once (default). */
  readonly overlap?: (typeof OVERLAPS)[number] | undefined
  /** Name for the record. */
  readonly by?: string | undefined
}

export interface ScheduleDefinition extends Timing, ScheduledRun {
  readonly agent: string
  readonly catchUp: (typeof CATCH_UPS)[number]
  readonly overlap: (typeof OVERLAPS)[number]
}

const KIND = 'schedule'
export const scheduleRunId = (id: string): string => systemRunId(KIND, id)
export const scheduleIdOf = (runId: string): string => runId.slice(systemRunId(KIND, '').length)
export const SCHEDULE_RUNS = KIND

/** Id of the run of an occurrence: two schedulers make the same one. */
export const scheduledRunId = (id: string, nominalMs: number): string =>
  `${id}-${new Date(nominalMs).toISOString().replaceAll(/[-:]/g, '').replace('.000', '')}`

export function checkScheduleId(id: string): string {
  if (typeof id === 'string' && /^[\w.-]{1,100}$/.test(id)) return id
  throw bad(
    'id',
    'The id of the schedule is not usable',
    'Use 1 to 100 letters, digits and the characters . _ -',
  )
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export function toDefinition(agent: string, options: ScheduleOptions): ScheduleDefinition {
  checkName(agent, 'The agent')
  const {
    cron,
    every,
    at,
    timeZone,
    catchUp = at === undefined ? 'skip' : 'one',
    overlap = 'allow',
    threadId,
  } = options
  if (!CATCH_UPS.includes(catchUp))
    throw bad('catchUp', 'catchUp is none of its words', `Use ${CATCH_UPS.join(', ')}.`)
  if (!OVERLAPS.includes(overlap))
    throw bad('overlap', 'overlap is none of its words', `Use ${OVERLAPS.join(', ')}.`)
  const { input, queue, key, priority, deadlineMs, tags, subjects } = options
  const definition = {
    agent,
    cron,
    everyMs: every === undefined ? undefined : toEveryMs(every),
    at: at === undefined ? undefined : at instanceof Date ? toIso(at) : at,
    timeZone,
    catchUp,
    overlap,
    input,
    queue,
    key,
    priority,
    deadlineMs,
    threadId,
    tags,
    subjects,
  }
  return Object.fromEntries(
    Object.entries(definition).filter(([, value]) => value !== undefined),
  ) as unknown as ScheduleDefinition
}

const toIso = (at: Date): string => (Number.isNaN(at.getTime()) ? 'invalid' : at.toISOString())

function toEveryMs(every: string | number): number {
  if (typeof every === 'number') return every
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(every) ?? []
  return count === undefined ? Number.NaN : Number(count) * (UNIT_MS[unit] ?? Number.NaN)
}

export const digestOf = (ledger: Ledger, definition: ScheduleDefinition): string =>
  ledger.keyedDigest(['schedule', definition]).slice(0, 32)

export const scheduleEvent = <
  T extends
    | 'system.schedule_set'
    | 'system.schedule_changed'
    | 'system.schedule_fired'
    | 'system.schedule_skipped',
>(
  id: string,
  eventType: T,
  payload: PayloadOf<T>,
) => ({
  eventType,
  correlationId: scheduleRunId(id),
  causationId: null,
  source: { origin: 'system', runtime: 'clew' } as const,
  payload,
})

/** Id of the event that fires an occurrence, so that it is found on the run's submission as its cause. */
export const firedEventId = (runId: string): string => createDeriver(sha256, runId)('system.schedule_fired')

const bad = (option: string, message: string, hint: string): ClewError =>
  new ClewError('bad_option', message, `${hint} Nothing was written.`, { option })
