import { ClewError, type Ledger } from '@clew/ledger'
import { assertMode } from '../run/mode.ts'
import { parseTiming } from './occurrences.ts'
import { readFoldedSchedule, readSchedule, type ScheduleState } from './read-schedule.ts'
import {
  checkScheduleId,
  digestOf,
  scheduleEvent,
  type ScheduleOptions,
  toDefinition,
} from './schedule-definition.ts'

const ATTEMPTS = 20
const ACTIONS = { active: 'resume', paused: 'pause', removed: 'remove' } as const

/**
 * W5: has runs of an agent submitted by the clock, by any `clew worker`, `clew serve` or `startScheduler` of the workspace.
 * The same definition again changes nothing, so a program may call it at every start; another one counts from now on.
 */
export async function schedule(
  ledger: Ledger,
  agent: string | { readonly name: string },
  { id, by, ...options }: ScheduleOptions,
): Promise<ScheduleState> {
  assertMode(ledger, 'write')
  checkScheduleId(id)
  const definition = toDefinition(typeof agent === 'string' ? agent : agent.name, { id, ...options })
  const isDue = parseTiming(definition, Date.now())
  const digest = digestOf(ledger, definition)
  return change(ledger, id, (before) => {
    if (before?.definitionDigest === digest && before.state !== 'removed') return null
    if (definition.at !== undefined && isDue(Date.now()) === null) throw pastTime()
    return scheduleEvent(id, 'system.schedule_set', {
      ...definition,
      definitionDigest: digest,
      ...(by !== undefined && { by }),
    })
  })
}

/** Pauses, resumes or removes a schedule. Runs that were submitted already are not touched. */
export async function changeSchedule(
  ledger: Ledger,
  id: string,
  state: ScheduleState['state'],
  { by }: { readonly by?: string | undefined } = {},
): Promise<ScheduleState> {
  assertMode(ledger, 'write')
  return change(ledger, id, (before) => {
    if (!before || (before.state === 'removed' && state !== 'removed')) throw noSchedule(id)
    if (before.state === state) return null
    return scheduleEvent(id, 'system.schedule_changed', {
      action: ACTIONS[state],
      ...(by !== undefined && { by }),
    })
  })
}

export const noSchedule = (id: string): ClewError =>
  new ClewError(
    'not_found',
    `There is no schedule ${id.slice(0, 100)}`,
    'List them with `clew schedule list`.',
    {
      scheduleId: id.slice(0, 100),
    },
  )

/** Appends the event that `decide` makes of the schedule as it is; again if somebody else was first. */
async function change(
  ledger: Ledger,
  id: string,
  decide: (
    before: Awaited<ReturnType<typeof readFoldedSchedule>>,
  ) => ReturnType<typeof scheduleEvent<'system.schedule_set' | 'system.schedule_changed'>> | null,
): Promise<ScheduleState> {
  for (let attempt = 1; ; attempt++) {
    const before = await readFoldedSchedule(ledger, id)
    const event = decide(before)
    if (!event) return (await readSchedule(ledger, id)) as ScheduleState
    try {
      await ledger.append([event], { expectedSeq: before?.seq ?? 0 })
      return (await readSchedule(ledger, id)) as ScheduleState
    } catch (error) {
      if (!(error instanceof ClewError && error.code === 'wrong_seq') || attempt >= ATTEMPTS) throw error
    }
  }
}

const pastTime = (): ClewError =>
  new ClewError('bad_option', 'The time `at` has passed', 'Name a time to come. Nothing was written.', {
    option: 'at',
  })
