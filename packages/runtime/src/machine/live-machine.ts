import { ClewError } from '@clew/ledger'
import { setLongTimeout } from './long-timeout.ts'
import { createComparison } from '../replay/same-value.ts'
import { abandonment, isAbandonment } from './abandoned.ts'
import { createAttempts } from './attempts.ts'
import { createCursor, isPast } from './cursor.ts'
import { createEnds, type UnfinishedWork } from './ends.ts'
import { handedOver, isInFlight } from './hand-over.ts'
import { createMachine } from './machine.ts'
import { createMachineState, type MachineState, quiet } from './machine-state.ts'
import type { IdleReason, LiveMachine, MachineOptions } from './machine-types.ts'
import { questionPayload } from './payloads.ts'
import { reasonOf } from './perform.ts'
import type { MachineParts, Ports } from './ports.ts'
import { createResume } from './resume.ts'
import { extra, missing, missingIn, resumePolicy } from './resume-policy.ts'
import { isEnding, type Scope } from './scope.ts'
import { createSignals, notReceived } from './signals.ts'
import type { Outcome } from './step.ts'

/** How long code at rest may wait for something of its own before a recorded call that it has not made is a divergence. */
const GRACE_MS = 1000
/** How long steps in flight get to come to their end when the run is stopped or given up. */
const STOP_GRACE_MS = 1000
/** How often a run that is let go of looks whether its time is shorter by now. */
const LEAVE_LOOK_MS = 1000

/** The machine that performs: from the record, where there is one, and on from there. */
export function createLiveMachine(options: MachineOptions): LiveMachine {
  const core = createMachineState(options)
  const { record, runId } = options
  if (record && record.calls.length > 0)
    core.cursor = createCursor({
      record,
      comparison: core.ledger && createComparison(core.ledger),
      policy: resumePolicy(core),
      root: core.root,
      isGraph: options.awaitsCallsOnly,
      inOrder: options.durability !== 'async',
      cause: () => core.cause,
    })
  let signalled = (): void => {}
  const machine = createMachine(core, (parts) =>
    createLivePorts(core, parts, runId, (refresh) => void (signalled = refresh)),
  )
  return Object.defineProperties(
    {
      writeErrors: core.writes.errors,
      stop: core.stop,
      draft: core.writes.draft,
      signalled: () => signalled(),
    },
    Object.getOwnPropertyDescriptors(machine),
  ) as LiveMachine
}

function createLivePorts(
  core: MachineState,
  parts: MachineParts,
  runId: string,
  onSignal: (refresh: () => void) => void,
): Ports<IdleReason> {
  const { options, journal, root, cursor, writes, waits, ready, deferred, children } = core
  const { record, signal, now } = options
  const { deliver, stirs, notified } = parts
  const ends = createEnds(core)
  const attempts = createAttempts(core, ends, parts)
  const { end, abortWrites, closeBelow, stopDrafts, stopUncalled } = ends
  const { bodies, outside } = createResume(core, ends, attempts, parts)
  const handOutSignal = createSignals(core, ends)
  onSignal(() => options.inbox?.isOpen && void attempts.refresh())
  let leaveAt = Number.POSITIVE_INFINITY
  let budgetTimer: ReturnType<typeof setTimeout> | undefined
  const isNextDue = (): boolean => ready[0]?.isDue === true
  const graceMs = (): number => Math.max(GRACE_MS, root.tape?.graceMs ?? 0)

  const onAbort = (): void => {
    const reason: unknown = signal.reason
    if (isAbandonment(reason) && core.isLeaving) {
      // The parent's time is over; it is handed over all the same, and so is this one.
      leaveAt = 0
      return core.notify()
    }
    if (isAbandonment(reason) || (reason instanceof ClewError && reason.code === 'stale_epoch'))
      writes.fail(reason)
    core.stop(reasonOf(signal))
  }
  const onLeave = (): void => core.notify()

  function begin(): void {
    signal.addEventListener('abort', onAbort)
    options.shutdown?.signal.addEventListener('abort', onLeave)
    if (signal.aborted) onAbort()
    const { timeMs } = options.budget ?? {}
    const outOfTime = (): void => core.stop(`budget: ${timeMs} ms are used up`)
    const leftMs = options.timeLeftMs ?? timeMs ?? Number.POSITIVE_INFINITY
    if (leftMs <= 0) outOfTime()
    else if (leftMs !== Number.POSITIVE_INFINITY)
      setLongTimeout(outOfTime, leftMs, (next) => void (budgetTimer = next))
  }

  async function rests(): Promise<IdleReason | undefined> {
    for (;;) {
      if (writes.fatal !== undefined) throw await abandon(writes.fatal)
      if (core.divergence) return { type: 'blocked', divergence: core.divergence }
      if (core.stopReason !== undefined) return halt(core.stopReason)
      if (core.ended) return finish(core.ended)
      if (!core.isLeaving) return undefined
      if (await isLeft()) return leave()
    }
  }

  async function beyond(): Promise<{ readonly rest: IdleReason } | 'woken' | 'again'> {
    if (core.isReading) {
      await leaveRecord()
      return 'woken'
    }
    if (isNextDue()) {
      if (isSuspended()) return { rest: { type: 'suspended' } }
      const next = ready.shift()
      if (next) deliver(next.step, next.outcome, next.eventId)
      return 'woken'
    }
    for (const each of deferred.splice(0)) each()
    if (handOutSignal() || endDue()) return 'again'
    const rest = waits.size > 0 && !core.isBusy ? restOf() : undefined
    if (rest) return { rest }
    if (!isNextDue()) await notified(untilDue())
    return 'again'
  }

  /**
   * D2: all that the record has must have been asked for before anything new is begun. A call that it lacks may have been
   * lost with its process, unless the record shows that the code acted after it.
   */
  async function leaveRecord(): Promise<void> {
    for (;;) {
      const missed = missingIn(core)
      if (!missed) break
      if (core.isStuck || core.ended !== undefined || writes.fatal !== undefined) return
      if (core.refreshes.length > 0) return
      if (!(await stirs(graceMs())) && missingIn(core) === missed) return bodies.missed(missed, true)
    }
    const held = cursor?.held.filter(({ scope }) => !isEnding(scope)) ?? []
    const added = held.find(
      (step) => isPast(step) && record?.actedAfter(step.askedCause, step.scope.step?.startId),
    )
    if (added) return core.diverge(extra(added))
    core.isReading = false
    core.statements.flush()
    cursor?.held.splice(0)
    for (const step of held) outside.begin(step)
  }

  const isSuspended = (): boolean =>
    options.suspendAlways &&
    journal !== undefined &&
    ready.length === 1 &&
    !ready[0]?.isShared &&
    !core.isBusy &&
    waits.isAtRest(root)

  function untilDue(): number | undefined {
    const due = waits.soonest
    return due === undefined ? undefined : Math.max(0, Math.min(due - now(), 2 ** 30))
  }

  /** A wait whose time is over, also while other parts of the run are at work. */
  function endDue(): boolean {
    const due = waits.size > 0 ? waits.due(now()) : undefined
    if (!due) return false
    waits.delete(due)
    const { work } = due.spec
    if (work.kind === 'child') attempts.perform(due)
    else end(due, work.kind === 'receive' ? { error: notReceived(due, work) } : { output: null })
    return true
  }

  /** All that is left waits for the outside: the run can be given up until then. */
  function restOf(): IdleReason | undefined {
    const waiting = journal && waits.whole(root, now())
    if (!waiting) return undefined
    const { steps, pauses, dueAt, awaits } = waiting
    const asked = steps.flatMap((step) =>
      step.pauses
        .filter(({ pauseId }) => !record?.questions.has(pauseId))
        .map((pause) =>
          writes.draft('ui.input_requested', [pause.pauseId], step.startId, questionPayload(step, pause)),
        ),
    )
    return { type: 'waiting', asked, pauses, dueAt, awaits, seenSeq: options.inbox?.seenSeq ?? 0 }
  }

  async function finish(outcome: Outcome): Promise<IdleReason> {
    const missed = cursor?.nextIn('', 1)
    const added = core.isReading
      ? cursor?.held.find(
          (step) => isPast(step) && record?.actedAfter(step.askedCause, step.scope.step?.startId),
        )
      : undefined
    const found = missed ? missing(core, missed) : added && extra(added)
    if (found) return { type: 'blocked', divergence: core.withTexts(found) }
    core.statements.flush()
    await endWrites()
    const left = closeBelow(root, { steps: [], children: [] })
    await allStopped(left)
    while (writes.inFlight > 0 && writes.fatal === undefined) await notified(STOP_GRACE_MS)
    if (writes.fatal !== undefined) throw await abandon(writes.fatal)
    const uncalled = await stopUncalled()
    return {
      type: 'ended',
      outcome: core.ended ?? outcome,
      stops: journal ? [...stopDrafts(left), ...uncalled] : [],
    }
  }

  /** Writes that the code left behind: those that succeed within a moment are on record as done, the others as stopped. */
  async function endWrites(): Promise<void> {
    root.isEnding = true
    const pending = journal ? abortWrites(root) : []
    const until = performance.now() + STOP_GRACE_MS
    for (;;) {
      const leftMs = until - performance.now()
      const isUnderWay = pending.some(({ isDispatched }) => isDispatched)
      if (!isUnderWay || leftMs <= 0 || writes.fatal !== undefined) return
      await notified(leftMs)
    }
  }

  async function allStopped(left: UnfinishedWork): Promise<void> {
    await Promise.allSettled([...left.children, ...children.values()])
    await Promise.all(left.children).catch(writes.fail)
    if (writes.fatal !== undefined) throw await abandon(writes.fatal)
  }

  /** Aborts steps in flight, gives them a moment to end, and then detaches from them. */
  async function halt(reason: string): Promise<IdleReason> {
    abortAll(
      root,
      signal.aborted ? signal.reason : new ClewError('stopped', 'The run is stopped', 'End the work.'),
    )
    const until = performance.now() + STOP_GRACE_MS
    for (;;) {
      const leftMs = until - performance.now()
      if (core.working + writes.inFlight === 0 || leftMs <= 0 || writes.fatal !== undefined) break
      await notified(leftMs)
    }
    if (writes.fatal !== undefined) throw await abandon(writes.fatal)
    const left = closeBelow(root, { steps: [], children: [] })
    await allStopped(left)
    const uncalled = await stopUncalled()
    return { type: 'stopped', reason, stops: journal ? [...stopDrafts(left), ...uncalled] : [] }
  }

  /** R10: nothing more is begun; true when what is in flight has come to its end, or its time is over. */
  async function isLeft(): Promise<boolean> {
    // A process may be asked to end while it waits to let go of a run that is to be paused.
    leaveAt = Math.min(leaveAt, performance.now() + (options.shutdown?.graceMs ?? 0))
    const leftMs = leaveAt - performance.now()
    if (leftMs <= 0 || !isInFlight(core)) return true
    await notified(Math.min(leftMs, LEAVE_LOOK_MS))
    await quiet()
    return false
  }

  /** Shuts down: aborts steps in flight without recording an outcome; the next owner recovers them (R10). */
  async function leave(): Promise<IdleReason> {
    await abandon(handedOver(runId))
    if (writes.fatal !== undefined) throw writes.fatal
    return { type: 'left' }
  }

  function abortAll(scope: Scope, reason: unknown): void {
    for (const step of scope.steps) {
      step.abort?.abort(reason)
      if (step.body) abortAll(step.body, reason)
    }
  }

  /** Nothing more is written here: the next owner resumes the run from what was committed. */
  async function abandon(error: unknown): Promise<unknown> {
    core.isOver = true
    abortAll(root, abandonment(error))
    const until = performance.now() + STOP_GRACE_MS
    // Pending writes are awaited before the lease is released.
    for (let leftMs = STOP_GRACE_MS; leftMs > 0; leftMs = until - performance.now()) {
      if (writes.inFlight + children.size === 0) break
      await notified(Math.min(leftMs, 50))
    }
    return error
  }

  function clearTimers(scope: Scope): void {
    for (const step of scope.steps) {
      clearTimeout(step.timer)
      if (step.body) clearTimers(step.body)
    }
  }

  return {
    bodies,
    outside,
    time: { graceMs, limit: attempts.limit },
    begin,
    rests,
    beyond,
    flush: () => writes.flush({ mayMiss: options.durability === 'async' }),
    over() {
      clearTimeout(budgetTimer)
      clearTimers(root)
      signal.removeEventListener('abort', onAbort)
      options.shutdown?.signal.removeEventListener('abort', onLeave)
    },
  }
}
