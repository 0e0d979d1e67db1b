import { ClewError, type ClewEvent } from '@clew/ledger'
import { setLongTimeout } from '../long-timeout.ts'
import { toStepError } from '../run.ts'
import { abandonment, isAbandonment } from './abandoned.ts'
import { createAttempts } from './attempts.ts'
import { createCall } from './calls.ts'
import { createCore, type Delivery, quiet } from './machine-state.ts'
import { bindCall } from './current-run.ts'
import { createEnds, type UnfinishedWork } from './ends.ts'
import { handedOver, isInFlight } from './hand-over.ts'
import type { Machine, MachineOptions, IdleReason } from './machine-types.ts'
import { outcomeOf, questionPayload } from './payloads.ts'
import { reasonOf } from './perform.ts'
import type { RecordReader } from './record-reader.ts'
import { isRedacted, refresh } from './refresh.ts'
import { isClosed, isEnding, type Scope } from './scope.ts'
import type { Outcome, Step } from './step.ts'

export type { Caller, Durability, EndedStep, Machine, MachineOptions, IdleReason } from './machine-types.ts'

/** How long code at rest may wait for something of its own before a recorded end that it has not asked for is a divergence. */
const GRACE_MS = 1000
/** How long steps in flight get to come to their end when the run is stopped or given up. */
const STOP_GRACE_MS = 1000
/** So many supersteps may pass within one turn of the event loop: timers and sockets have theirs in between. */
const MAX_IN_TURN = 8

/**
 * The step machine that functions and graphs share. All that wakes the code is the recorded end of one of its calls;
 * ends are handed over one at a time, in the order of their commit, and the code comes to rest before the next one.
 * Live and resumed code therefore makes the same calls for the same reasons, and the same ordinals name the same steps.
 */
export function createMachine(options: MachineOptions): Machine {
  const { record, signal, now } = options
  const core = createCore(options)
  const { journal, root, reading, writes, waits, ready, deferred, children } = core
  const ends = createEnds(core)
  const attempts = createAttempts(core, ends)
  const { end, closeBelow, stopDrafts, stopUncalled } = ends
  const { begin, perform, runOf } = attempts
  const call = createCall(core, ends, attempts)
  core.call = call

  let leaveAt: number | undefined
  const isNextDue = (): boolean => ready[0]?.isDue === true
  const graceMs = (): number => Math.max(GRACE_MS, root.tape?.graceMs ?? 0)

  function deliver({ step, eventId, outcome }: Omit<Delivery, 'isDue'>): void {
    step.scope.steps.delete(step)
    if (isEnding(step.scope)) return
    core.cause = eventId
    if ('output' in outcome) step.resolve(outcome)
    else step.reject(outcome.error)
  }

  async function deliverRecorded(step: Step, event: ClewEvent): Promise<void> {
    const recorded = outcomeOf(event, step.stepId)
    const outcome = isRedacted(recorded, step.spec.work) ? await refresh(core, step, recorded) : recorded
    if (outcome) deliver({ step, eventId: event.eventId, outcome })
  }

  /** One recorded end, handed to whoever asks for it. */
  async function readOn(record: RecordReader): Promise<void> {
    const next = record.next()
    if (next.type === 'deliver') return deliverRecorded(next.step, next.event)
    if (next.type === 'passed') return
    const isAsked = (): boolean =>
      record.called.has(next.stepId) || core.ended !== undefined || writes.fatal !== undefined
    for (const until = performance.now() + graceMs(); performance.now() < until; ) {
      if (core.mayOvertake && isNextDue()) return deliver(ready.shift() as Delivery)
      if (isAsked() || core.isStuck || core.refreshes.length > 0 || core.pieces.isNext(record.isBehind))
        return
      await notified(until - performance.now())
      await quiet()
    }
    if (isAsked() || (core.mayOvertake && core.isBusy)) return
    if (core.mayOvertake || deferred.length + ready.length === 0)
      return core.diverge(core.missing(next.stepId))
    // A gap that async durability left: what may be repeated is, since the record goes on behind it.
    core.mayOvertake = true
    for (const go of deferred.splice(0)) go()
  }

  /** D2: all that the record has must have been asked for before anything new is begun. */
  async function leaveRecord(record: RecordReader): Promise<void> {
    const scopes = new Set([root, ...core.unrecorded.map(({ step }) => step.scope)])
    const missing = (): string | undefined => {
      for (const scope of scopes) {
        const stepId = isClosed(scope) ? undefined : record.uncalledIn(scope.path, scope.attempt)
        if (stepId !== undefined) return stepId
      }
      return undefined
    }
    for (const until = performance.now() + graceMs(); ; ) {
      const stepId = missing()
      if (stepId === undefined) break
      if (core.isStuck || core.ended !== undefined || writes.fatal !== undefined) return
      if (core.refreshes.length > 0) return
      const leftMs = until - performance.now()
      if (leftMs <= 0) return core.diverge(core.missing(stepId))
      await notified(leftMs)
      await quiet()
    }
    core.isReading = false
    for (const { step, attempt, cause } of core.unrecorded.splice(0))
      if (!isEnding(step.scope)) begin(step, attempt, cause)
  }

  /** Resolves at the next thing that happens, or after a while. */
  function notified(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(done, Math.max(0, ms))
      function done(): void {
        clearTimeout(timer)
        core.notify = () => {}
        resolve()
      }
      core.notify = done
    })
  }

  async function go(code: () => Promise<unknown>): Promise<IdleReason> {
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
    signal.addEventListener('abort', onAbort)
    options.shutdown?.signal.addEventListener('abort', onLeave)
    if (signal.aborted) onAbort()
    const { timeMs } = options.budget ?? {}
    let timer: ReturnType<typeof setTimeout> | undefined
    const outOfTime = (): void => core.stop(`budget: ${timeMs} ms are used up`)
    const leftMs = options.timeLeftMs ?? timeMs ?? Number.POSITIVE_INFINITY
    if (leftMs <= 0) outOfTime()
    else if (leftMs !== Number.POSITIVE_INFINITY)
      setLongTimeout(outOfTime, leftMs, (next) => void (timer = next))
    try {
      void runCode(code)
      return await loop()
    } finally {
      core.isOver = true
      clearTimeout(timer)
      clearTimers(root)
      signal.removeEventListener('abort', onAbort)
      options.shutdown?.signal.removeEventListener('abort', onLeave)
    }
  }

  async function runCode(code: () => Promise<unknown>): Promise<void> {
    try {
      core.ended = { output: (await bindCall({ scope: root, run }, code)) ?? null }
    } catch (error) {
      core.ended = { error: toStepError(error, null) }
    }
    core.notify()
  }

  let inTurn = 0
  let turn: NodeJS.Immediate | undefined
  let rested: (() => void) | undefined
  /**
   * Resolves when the code has come to rest. That takes a turn of the event loop, for code may await things of its own. A
   * graph awaits its calls alone: when the last of them has its end on record, it rests.
   */
  function atRest(): Promise<void> {
    if (!options.awaitsCallsOnly) return quiet()
    turn ??= setImmediate(() => {
      turn = undefined
      inTurn = 0
      rested?.()
    })
    return new Promise((resolve) => {
      rested = () => {
        rested = undefined
        core.notify = () => {}
        resolve()
      }
      if (inTurn++ < MAX_IN_TURN)
        core.notify = () => {
          if (isNextDue() && !root.hasSteps && writes.inFlight === 0) rested?.()
        }
    })
  }

  async function loop(): Promise<IdleReason> {
    for (;;) {
      await atRest()
      writes.flush({ mayMiss: options.durability === 'async' })
      for (;;) {
        if (writes.fatal !== undefined) throw await abandon(writes.fatal)
        if (core.divergence) return { type: 'blocked', divergence: core.divergence }
        if (core.stopReason !== undefined) return halt(core.stopReason)
        if (core.ended) return finish(core.ended)
        if (core.isLeaving && (await isLeft())) return leave()
        if (core.isLeaving) continue
        if (core.refreshes.length > 0) {
          await core.refreshes.shift()?.()
          break
        }
        if (reading && !reading.isDone) {
          const given = core.pieces.give(reading.isBehind)
          if (given === 'none') await readOn(reading)
          else if (given !== 'given') await notified(given)
          break
        }
        if (core.isReading) {
          await leaveRecord(reading as RecordReader)
          break
        }
        if (isNextDue()) {
          if (isSuspended()) return { type: 'suspended' }
          deliver(ready.shift() as Delivery)
          break
        }
        for (const each of deferred.splice(0)) each()
        const rest = waits.size > 0 && !core.isBusy ? restOf() : undefined
        if (rest) return rest
        if (!isNextDue()) await notified(untilDue())
      }
    }
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

  /** All that is left waits for the outside: the run can be given up until then. */
  function restOf(): IdleReason | undefined {
    const due = waits.due(now())
    if (due) {
      waits.delete(due)
      if (due.spec.work.kind === 'child') perform(due)
      else end(due, { output: null })
      return undefined
    }
    const waiting = journal && waits.whole(root, now())
    if (!waiting) return undefined
    const { steps, pauses, dueAt } = waiting
    const asked = steps.flatMap((step) =>
      step.pauses
        .filter(({ pauseId }) => !record?.questions.has(pauseId))
        .map((pause) =>
          writes.draft('ui.input_requested', [pause.pauseId], step.startId, questionPayload(step, pause)),
        ),
    )
    return { type: 'waiting', asked, pauses, dueAt }
  }

  async function finish(outcome: Outcome): Promise<IdleReason> {
    const missed = reading?.uncalledIn('', 1)
    if (missed !== undefined) return { type: 'blocked', divergence: core.withTexts(core.missing(missed)) }
    const left = closeBelow(root, { steps: [], children: [] })
    await allStopped(left)
    while (writes.inFlight > 0 && writes.fatal === undefined) await notified(STOP_GRACE_MS)
    if (writes.fatal !== undefined) throw await abandon(writes.fatal)
    const uncalled = await stopUncalled()
    return { type: 'ended', outcome, stops: journal ? [...stopDrafts(left), ...uncalled] : [] }
  }

  async function allStopped(left: UnfinishedWork): Promise<void> {
    await Promise.allSettled([...left.children, ...children.values()])
    await Promise.all(left.children).catch(writes.fail)
    if (writes.fatal !== undefined) throw await abandon(writes.fatal)
  }

  /** Steps in flight are told, get a moment to end, and are then left behind. */
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
    leaveAt ??= performance.now() + (options.shutdown?.graceMs ?? 0)
    const leftMs = leaveAt - performance.now()
    if (leftMs <= 0 || !isInFlight(core)) return true
    await notified(leftMs)
    await quiet()
    return false
  }

  /** What is still in flight is told, and its outcome is for whoever goes on to find out. */
  async function leave(): Promise<IdleReason> {
    await abandon(handedOver(options.runId))
    if (writes.fatal !== undefined) throw writes.fatal
    return { type: 'left' }
  }

  function abortAll(scope: Scope, reason: unknown): void {
    for (const step of scope.steps) {
      step.abort?.abort(reason)
      if (step.body) abortAll(step.body, reason)
    }
  }

  /** Nothing more is written here: whoever resumes the run goes on from what was committed. */
  async function abandon(error: unknown): Promise<unknown> {
    core.isOver = true
    abortAll(root, abandonment(error))
    const until = performance.now() + STOP_GRACE_MS
    // What is on its way to the store lands before the lease is given up.
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

  const run = runOf(root)
  return {
    root,
    run,
    call,
    go,
    get cause() {
      return core.cause
    },
    writeErrors: writes.errors,
    openChild: options.openChild,
    stop: core.stop,
    draft: writes.draft,
  }
}
