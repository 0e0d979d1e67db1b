import { ClewError, isTerminal, type Ledger } from '@clew/ledger'
import { checkCounts } from '../options/check-options.ts'
import { assertMode } from '../run/mode.ts'
import { submitRun } from '../work/submit-run.ts'
import { decideOccurrences, MAX_CATCH_UP } from './decide-occurrences.ts'
import { type NextTime, occurrencesBetween, parseTiming } from './occurrences.ts'
import { type FoldedSchedule, readFoldedSchedule, scheduleRows } from './read-schedule.ts'
import { firedEventId, scheduledRunId, scheduleEvent, scheduleRunId } from './schedule-definition.ts'
import { createStoreClock } from './store-clock.ts'

export interface SchedulerOptions {
  /** Longest interval between two checks of the schedules. Default 5,000. */
  readonly pollMs?: number | undefined
  /** Called for each run that this process submitted. */
  readonly onSubmit?:
    | ((submitted: { readonly scheduleId: string; readonly runId: string }) => void)
    | undefined
  /** Called when a schedule, or all of them, could not be worked on; it is tried again. Without it, `stop()` rejects with the last. */
  readonly onError?: ((error: unknown, scheduleId: string | null) => void) | undefined
  /** For tests. Default: the store's clock. */
  readonly now?: (() => number) | undefined
}

export interface Scheduler {
  /** Waits for the check under way. */
  stop(): Promise<void>
}

/** Runs of overlapping occurrences that are looked at. */
const MAX_OVERLAP = 20
const MIN_WAIT_MS = 20

interface KnownSchedule {
  readonly events: number
  readonly folded: FoldedSchedule
  readonly next: NextTime
}

/**
 * W5: submits the runs of schedules that are due, for workers to claim. Any number of schedulers may share a workspace: an
 * occurrence is decided by one event, written at an expected seq, and its run has an id that follows from it.
 */
export function startScheduler(ledger: Ledger, options: SchedulerOptions = {}): Scheduler {
  const { pollMs = 5000, onError, now } = options
  checkCounts('scheduler', { pollMs }, 1)
  assertMode(ledger, 'write')
  const clock = now ? async () => now() : createStoreClock(ledger)
  const check = createScheduleCheck(ledger, options)
  let failed: { readonly error: unknown } | undefined
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let checking = once()

  function fail(error: unknown, scheduleId: string | null): void {
    if (error instanceof ClewError && error.code === 'closed') isStopped = true
    else if (onError) onError(error, scheduleId)
    else failed = { error }
  }

  async function once(): Promise<void> {
    let waitMs = pollMs
    try {
      const dueMs = await check(clock, fail)
      if (dueMs !== null) waitMs = Math.min(pollMs, Math.max(MIN_WAIT_MS, dueMs - (await clock())))
    } catch (error) {
      fail(error, null)
    }
    if (isStopped) return
    timer = setTimeout(() => {
      checking = once()
    }, waitMs).unref()
  }

  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await checking
      const last = failed
      failed = undefined
      if (last) throw last.error
    },
  }
}

type Clock = () => Promise<number>

/** One look at all schedules; gives when the next of them is due. */
export function createScheduleCheck(
  ledger: Ledger,
  { onSubmit }: Pick<SchedulerOptions, 'onSubmit'> = {},
): (clock: Clock, fail: (error: unknown, scheduleId: string) => void) => Promise<number | null> {
  const known = new Map<string, KnownSchedule>()
  /** Runs that are certainly there. */
  const submitted = new Set<string>()

  async function read(id: string, events: number, nowMs: number): Promise<KnownSchedule | null> {
    const before = known.get(id)
    if (before?.events === events) return before
    const folded = await readFoldedSchedule(ledger, id, before?.folded)
    if (!folded) return null
    const next =
      before && before.folded.definitionDigest === folded.definitionDigest
        ? before.next
        : parseTiming(folded.definition, Date.parse(folded.setAt) || nowMs)
    const found = { events, folded, next }
    known.set(id, found)
    return found
  }

  /** A scheduler may have died between an occurrence and its run. */
  async function submitMissing({ id, definition, recent }: FoldedSchedule): Promise<void> {
    for (const { runId } of recent) {
      if (submitted.has(runId)) continue
      if (!(await ledger.getRun(runId))) await submit(id, definition, runId)
      submitted.add(runId)
    }
    const kept = new Set(recent.map(({ runId }) => runId))
    for (const runId of submitted) if (runId.startsWith(`${id}-`) && !kept.has(runId)) submitted.delete(runId)
  }

  async function submit(id: string, definition: FoldedSchedule['definition'], runId: string): Promise<void> {
    const { agent, input, queue, key, priority, deadlineMs, subjects, tags, overlap } = definition
    const threadId = definition.threadId ?? (overlap === 'queue' ? scheduleRunId(id) : undefined)
    try {
      await submitRun(ledger, agent, input, {
        runId,
        threadId,
        queue,
        key,
        priority,
        deadlineMs,
        subjects,
        tags: { ...tags, schedule: id },
        causedBy: firedEventId(runId),
      })
      onSubmit?.({ scheduleId: id, runId })
    } catch (error) {
      // Another scheduler submitted it, by a definition that has changed since.
      if (!(error instanceof ClewError && error.code === 'conflict')) throw error
    }
  }

  const isBusy = async ({ recent }: FoldedSchedule): Promise<boolean> => {
    for (const { runId } of recent.slice(-MAX_OVERLAP)) {
      const run = await ledger.getRun(runId)
      if (run && !isTerminal(run.status)) return true
    }
    return false
  }

  /** Decides what is due, and records it at the seq that it was decided on; undefined if somebody else was first. */
  async function decide(
    { folded, next }: KnownSchedule,
    nowMs: number,
  ): Promise<readonly string[] | undefined> {
    const { id, definition, seq } = folded
    const due = occurrencesBetween(next, Date.parse(folded.decidedUpTo), nowMs, MAX_CATCH_UP)
    if (due.times.length === 0) return []
    const busy = definition.overlap === 'skip' && (await isBusy(folded))
    const { fired, skipped } = decideOccurrences(definition, due, nowMs, busy)
    const runIds = fired.map((at) => scheduledRunId(id, at))
    const events = [
      ...skipped.map(({ count, ...skip }) =>
        scheduleEvent(id, 'system.schedule_skipped', { ...skip, ...(count !== null && { count }) }),
      ),
      ...fired.map((at, index) => {
        const runId = runIds[index] as string
        const payload = { nominalAt: new Date(at).toISOString(), runId }
        return { ...scheduleEvent(id, 'system.schedule_fired', payload), eventId: firedEventId(runId) }
      }),
    ]
    try {
      await ledger.append(events, { expectedSeq: seq })
      return runIds
    } catch (error) {
      if (error instanceof ClewError && (error.code === 'wrong_seq' || error.code === 'conflict'))
        return undefined
      throw error
    }
  }

  async function checkOne(id: string, events: number, nowMs: number): Promise<number | null> {
    const found = await read(id, events, nowMs)
    if (!found) return null
    const { folded, next } = found
    await submitMissing(folded)
    if (folded.state !== 'active') return null
    const fired = await decide(found, nowMs)
    // Decided by another scheduler: the next look reads what.
    if (!fired) return nowMs
    for (const runId of fired) {
      await submit(id, folded.definition, runId)
      submitted.add(runId)
    }
    return next(nowMs)
  }

  return async (clock, fail) => {
    const times: number[] = []
    for (const { id, events } of await scheduleRows(ledger)) {
      try {
        const next = await checkOne(id, events, await clock())
        if (next !== null) times.push(next)
      } catch (error) {
        fail(error, id)
      }
    }
    return times.length === 0 ? null : Math.min(...times)
  }
}
