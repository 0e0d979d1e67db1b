import { asOwn, type ClewEvent, type Ledger } from '@clew/ledger'
import { type Timing, nextTimes } from './occurrences.ts'
import { SCHEDULE_RUNS, type ScheduleDefinition, scheduleIdOf, scheduleRunId } from './schedule-definition.ts'

export interface ScheduleSkip {
  readonly reason: 'late' | 'overlap'
  /** Null if there were very many. */
  readonly count: number | null
  readonly fromAt: string
  readonly toAt: string
}

/** A schedule as its events have it. */
export interface ScheduleState {
  readonly id: string
  readonly state: 'active' | 'paused' | 'removed'
  readonly definition: ScheduleDefinition
  readonly setAt: string
  readonly by: string | null
  /** The last occurrence that was fired, with its run. */
  readonly lastFired: { readonly nominalAt: string; readonly runId: string } | null
  readonly lastSkipped: ScheduleSkip | null
  /** Up to here every occurrence has been fired or skipped. */
  readonly decidedUpTo: string
  /** Seq of the last event. */
  readonly seq: number
}

/** What a scheduler needs besides. */
export interface FoldedSchedule extends ScheduleState {
  readonly definitionDigest: string | null
  /** Runs of the newest occurrences, oldest first. */
  readonly recent: readonly { readonly nominalAt: string; readonly runId: string }[]
}

const MAX_RECENT = 100
const STATES = { resume: 'active', pause: 'paused', remove: 'removed' } as const

function foldSchedule(before: FoldedSchedule | null, event: ClewEvent): FoldedSchedule | null {
  const own = asOwn(event)
  const { seq, recordedAt } = event.ledger
  if (own?.eventType === 'system.schedule_set') {
    const { by = null, definitionDigest = null, catchUp = 'skip', overlap = 'allow', ...rest } = own.payload
    return {
      lastFired: null,
      lastSkipped: null,
      recent: [],
      ...before,
      id: scheduleIdOf(event.correlationId),
      // The operator's pause outlives a deploy.
      state: before?.state === 'paused' ? 'paused' : 'active',
      definition: { ...rest, catchUp, overlap },
      definitionDigest,
      setAt: recordedAt,
      by,
      decidedUpTo: recordedAt,
      seq,
    }
  }
  if (!before || !own) return before && { ...before, seq }
  switch (own.eventType) {
    case 'system.schedule_changed': {
      const state = STATES[own.payload.action]
      // What was due while it was paused is not missed: nobody wanted it.
      const isResumed = state === 'active' && before.state !== 'active'
      return { ...before, state, seq, ...(isResumed && { decidedUpTo: recordedAt }) }
    }
    case 'system.schedule_fired': {
      const { nominalAt, runId } = own.payload
      const lastFired = { nominalAt, runId }
      const recent = [...before.recent, lastFired].slice(-MAX_RECENT)
      return { ...before, lastFired, recent, decidedUpTo: later(before.decidedUpTo, nominalAt), seq }
    }
    case 'system.schedule_skipped': {
      const { reason, count = null, fromAt, toAt } = own.payload
      const lastSkipped = { reason, count, fromAt, toAt }
      return { ...before, lastSkipped, decidedUpTo: later(before.decidedUpTo, toAt), seq }
    }
    default:
      return { ...before, seq }
  }
}

const later = (a: string, b: string): string => (Date.parse(a) >= Date.parse(b) ? a : b)

const DEFINING = ['system.schedule_set', 'system.schedule_changed']
/** Of a schedule that fires every minute a year is half a million events: of the older ones only those that define it are read. */
const TAIL = 3 * MAX_RECENT

/** `from`: what was folded before; only later events are read. */
export async function readFoldedSchedule(
  ledger: Ledger,
  id: string,
  from: FoldedSchedule | null = null,
): Promise<FoldedSchedule | null> {
  const runId = scheduleRunId(id)
  let folded = from
  let afterSeq = from?.seq ?? 0
  if (!from) {
    afterSeq = Math.max(0, ((await ledger.getRun(runId))?.events ?? 0) - TAIL)
    if (afterSeq > 0)
      for await (const event of ledger.read(runId, { types: DEFINING, restored: true })) {
        if (event.ledger.seq > afterSeq) break
        folded = foldSchedule(folded, event)
      }
  }
  for await (const event of ledger.read(runId, { afterSeq, restored: true }))
    folded = foldSchedule(folded, event)
  return folded
}

/** Null if there is no such schedule. */
export async function readSchedule(ledger: Ledger, id: string): Promise<ScheduleState | null> {
  const folded = await readFoldedSchedule(ledger, id)
  return folded && toState(folded)
}

/** All schedules of the workspace by their ids; removed ones only if asked for. */
export async function listSchedules(
  ledger: Ledger,
  { removed = false }: { readonly removed?: boolean | undefined } = {},
): Promise<ScheduleState[]> {
  const found: ScheduleState[] = []
  for (const id of await scheduleIds(ledger)) {
    const state = await readSchedule(ledger, id)
    if (state && (removed || state.state !== 'removed')) found.push(state)
  }
  return found.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

async function scheduleIds(ledger: Ledger): Promise<string[]> {
  return (await scheduleRows(ledger)).map(({ id }) => id)
}

/** Ids of all schedules with the number of their events, which shows whether one has changed. */
export async function scheduleRows(
  ledger: Ledger,
): Promise<{ readonly id: string; readonly events: number }[]> {
  const rows: { id: string; events: number }[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await ledger.listRuns({ systemRun: SCHEDULE_RUNS, limit: 1000, cursor })
    rows.push(...page.runs.map(({ runId, events }) => ({ id: scheduleIdOf(runId), events })))
    if (page.nextCursor === null) return rows
    cursor = page.nextCursor
  }
}

function toState({ recent: _, definitionDigest: __, ...state }: FoldedSchedule): ScheduleState {
  return state
}

/** When a schedule is due next; nothing while it is paused or once it is removed. */
export function nextOccurrences(
  { state, definition, decidedUpTo }: ScheduleState,
  {
    after = new Date(),
    count = 5,
  }: { readonly after?: Date | undefined; readonly count?: number | undefined } = {},
): Date[] {
  if (state !== 'active') return []
  const from = new Date(Math.max(after.getTime(), Date.parse(decidedUpTo)))
  const timing: Timing = definition
  return nextTimes(timing, { after: from, count })
}
