import { ClewError } from '@clew/ledger'
import { toStepError } from '../run/run.ts'
import { createRun } from './create-run.ts'
import { bindCall } from './current-run.ts'
import type { Cursor } from './cursor.ts'
import { scopeFor } from './cursor.ts'
import { digestOf } from './digest.ts'
import { type MachineState, quiet } from './machine-state.ts'
import type { Detach, Machine } from './machine-types.ts'
import { mutableCopy } from './mutable-copy.ts'
import { nameCall } from './name-call.ts'
import { settle, signalOf } from './perform.ts'
import { copyEnd, copyInput, recordedCopy } from './recorded-copy.ts'
import { isRedacted } from './refresh.ts'
import type { BodyWork, MachineParts, Ports } from './ports.ts'
import type { RecordedCall, Turn } from './record.ts'
import { ownRejection } from './rejections.ts'
import { isClosed, isEnding, openBody, type Scope } from './scope.ts'
import { type CallSpec, type Completed, hasBody, mayGiveAgain, type Outcome, type Step } from './step.ts'
import type { Run } from '../run/run.ts'

/** So many supersteps may pass within one turn of the event loop: timers and sockets have theirs in between. */
const MAX_IN_TURN = 8

/**
 * The step machine that functions and graphs share, live, resumed and replayed. All that wakes the code is the recorded end
 * of one of its calls; ends are handed over one at a time, in the order of their commit, and the code comes to rest before
 * the next one. So the same code makes the same calls for the same reasons, and the same ordinals name the same steps.
 *
 * A call goes one way: `call` names it, the cursor finds it in the record, and it is given back, entered, or handed to the
 * outside port. What running, resuming and replaying do differently is in the ports (ports.ts).
 */
export function createMachine<Rest>(
  core: MachineState,
  createPorts: (parts: MachineParts) => Ports<Rest>,
): Machine<Rest> {
  const { options, root, cursor, ledger, chunks } = core
  const ports = createPorts({ enter, deliver, stirs, notified, cursor })
  const isRecorded =
    cursor && cursor.record.calls.length > 0 ? (stepId: string) => cursor.record.has(stepId) : undefined
  core.call = call

  function call(scope: Scope, asked: CallSpec): Promise<Completed> {
    const away = ports.outside.turnAway(scope)
    if (away) return away
    const { stepId, ordinal } = nameCall(scope, asked, ledger, isRecorded)
    const spec = asReplaced(stepId, asked)
    const { digest: given, cacheKey, refused } = digestOf(ledger, scope, spec, stepId)
    const digest = cursor && !refused ? cursor.digestOf(stepId, given, spec) : given
    const before = scope.attempt > 1 && !refused ? givenBefore(stepId, digest, scope, spec) : undefined
    if (before && before.startId === undefined)
      return 'output' in before.outcome
        ? Promise.resolve(copyEnd(ledger, spec, before.outcome))
        : Promise.reject(before.outcome.error)
    return new Promise((resolve, reject) => {
      const step: Step = {
        stepId,
        spec,
        ordinal,
        scope,
        digest,
        cacheKey,
        resolve,
        reject,
        refused,
        attempt: 0,
        superstep: 0,
        failures: 0,
        startId: before?.startId ?? '',
        startedAt: 0,
        beganAt: 0,
        open: false,
        pauses: [],
        dueAt: undefined,
        awaits: [],
        body: undefined,
        isDispatched: false,
        isDoubtful: false,
        onOver: undefined,
        abort: undefined,
        signal: undefined,
        timer: undefined,
        usage: undefined,
        heldInBranch: false,
        redactedInput: undefined,
        askedCause: core.cause,
        recorded: undefined,
        isSame: true,
        at: 0,
        enteredAt: -1,
        isOver: false,
        replayed: undefined,
      }
      core.unwinding.open.add(step)
      ports.outside.made(step)
      if (before) ports.outside.giveAgain(step, before.outcome)
      else follow(step)
      core.notify()
    })
  }

  /** A fork may say that a step is performed with something else than the code asks for. */
  function asReplaced(stepId: string, spec: CallSpec): CallSpec {
    const requests = options.record?.requests
    if (!requests?.has(stepId)) return spec
    const input = mutableCopy(requests.get(stepId))
    return spec.withInput?.(input) ?? { ...spec, input }
  }

  /** Finds the call in the record. What the record does not have begins, or waits until the record is used up. */
  function follow(step: Step): void {
    const found = cursor ? cursor.ask(step) : BEGIN
    if (found.type === 'recorded') adopt(step, found.call)
    else if (found.type === 'begin') ports.outside.begin(step)
    else if (found.type === 'again') ports.outside.beginAgain(step, found.call)
  }

  /** Takes over what the record has of a call. */
  function adopt(step: Step, call: RecordedCall): void {
    const tried = ports.bodies.attemptOf(call)
    const { start, end } = tried
    const { work } = step.spec
    step.at = call.attempts.indexOf(tried)
    step.attempt = tried.attempt
    step.superstep = start.payload.superstep ?? 0
    step.startId = start.eventId
    step.startedAt = cursor?.record.isShared(start) ? options.now() : Date.parse(start.timestamp)
    step.beganAt = performance.now()
    step.failures = call.attempts.filter(
      ({ end: each }) => each?.eventType === 'execution.step_failed',
    ).length
    step.scope.steps.add(step)
    if (call.isGiven) {
      if (call.isPassed) ports.outside.giveLate(step, call)
      else foretell(step, call)
    } else if (hasBody(work) && !step.refused && (end === undefined || ports.bodies.areRun)) {
      // An attempt that was cut before anything of it counts: the next one is a turn of its own.
      if (end?.eventType === 'execution.step_interrupted') return
      step.open = true
      enter(step, work)
    } else ports.outside.takeOver(step, call)
  }

  /** D4: chunks that came in before the end are given at their own places. */
  function foretell(step: Step, { attempts }: RecordedCall): void {
    const { work } = step.spec
    const end = attempts.at(-1)?.end
    if (work.kind !== 'effect' || !work.pieces || end?.eventType !== 'execution.step_completed') return
    const { output } = end.payload
    if (ports.outside.mayForetell(step, output)) chunks.add(work.pieces(output))
  }

  /** Returns the result that an earlier attempt of this body recorded. Appends no event. */
  function givenBefore(
    stepId: string,
    digest: string,
    scope: Scope,
    spec: CallSpec,
  ): { readonly outcome: Outcome; readonly startId?: string } | undefined {
    const live = core.earlier.get(stepId)
    if (live && live.parentAttempt < scope.attempt && live.digest === digest)
      return mayGiveAgain(spec.work, live.outcome) ? { outcome: live.outcome } : undefined
    const kept = cursor?.givenBefore(stepId, digest, spec, scope.attempt)
    if (!kept) return undefined
    const { outcome, startId } = kept
    return core.journal && isRedacted(outcome, spec.work) ? { outcome, startId } : { outcome }
  }

  /** The body runs until its first await within the call itself: what it calls has this start as its cause. */
  function enter(step: Step, work: BodyWork): void {
    const { attempt, scope, spec } = step
    const body = openBody(step)
    step.body = body
    step.enteredAt = cursor?.wakes ?? 0
    body.superstep = spec.startFields?.superstep ?? scope.superstep
    const concluded = (outcome: Outcome): void => ports.bodies.concluded(step, attempt, outcome)
    ports.time.limit(step, concluded)
    const outer = core.cause
    if (step.startId !== '' && ports.bodies.causesCalls(step)) {
      core.cause = step.startId
      cursor?.entered(step.startId)
    }
    const inner = runOf(body, step)
    settle(core, step, () => work.fn(copyInput(ledger, spec), inner), inner, concluded)
    core.cause = outer
  }

  function deliver(step: Step, outcome: Outcome, eventId: string | null): void {
    step.scope.steps.delete(step)
    step.isOver = true
    const { resolve, reject, spec } = step
    ports.outside.delivered(step, outcome, eventId)
    if (isEnding(step.scope)) return
    core.unwinding.open.delete(step)
    if (eventId !== null) {
      core.cause = eventId
      cursor?.wake(eventId)
    }
    if ('output' in outcome) resolve(copyEnd(ledger, spec, outcome))
    else {
      ownRejection(outcome.error, failUnawaited)
      reject(outcome.error)
    }
  }

  /** No code waits for the call that failed: the run fails of it, unless it has ended. */
  function failUnawaited(error: Error): void {
    if (core.isOver)
      process.emitWarning(`A call of run ${options.runId} failed after the run had ended: ${error.name}`, {
        code: 'CLEW_LATE_FAILURE',
        detail: 'Await all calls of a run before its function returns.',
      })
    core.ended ??= { error: toStepError(error, null) }
    core.notify()
  }

  function runOf(scope: Scope, step?: Step): Run {
    const { runId, threadId, seed, now, openChild, listener, record, agent, promote, signals } = options
    const { signal } = core.unwinding
    core.statements.entered(scope)
    return createRun({
      scope,
      runId,
      threadId,
      seed,
      signal: step ? () => signalOf(step, signal) : () => signal,
      call,
      state: core.statements.make,
      patched: core.statements.patched,
      openChild,
      detach: options.detach ?? cannotDetach,
      own(error) {
        if (error instanceof Error) ownRejection(error, failUnawaited)
        return error
      },
      now,
      record,
      readings: core.readings,
      listener,
      ledger,
      agent,
      promote,
      signals,
    })
  }

  async function go(code: () => Promise<unknown>): Promise<Rest> {
    try {
      ports.begin()
      cursor?.wake(core.cause ?? '')
      void runCode(code)
      return await loop()
    } finally {
      core.isOver = true
      ports.over()
      const hasEnded = core.ended !== undefined
      // A suspended run behaves as if its process had died: its code is not unwound.
      if (hasEnded || !options.suspendAlways) core.unwinding.unwind(hasEnded)
    }
  }

  async function runCode(code: () => Promise<unknown>): Promise<void> {
    try {
      const output = (await bindCall({ scope: root, run }, code)) ?? null
      // The output of a graph is its state, which is frozen.
      core.ended = { output: options.awaitsCallsOnly ? output : recordedCopy(ledger, output) }
    } catch (error) {
      core.ended = { error: toStepError(error, null) }
    }
    core.notify()
  }

  async function loop(): Promise<Rest> {
    for (;;) {
      await atRest()
      cursor?.rested()
      ports.flush()
      for (;;) {
        const rest = await ports.rests()
        if (rest !== undefined) return rest
        const refresh = core.refreshes.shift()
        if (refresh) {
          await refresh()
          break
        }
        if (cursor && (cursor.turn || ports.bodies.areRun) && (await readOn(cursor))) break
        const came = await ports.beyond()
        if (typeof came === 'object') return came.rest
        if (came === 'woken') break
      }
    }
  }

  /** One turn of the record, when the code has come to rest after the one before; false when it is used up. */
  async function readOn(record: Cursor): Promise<boolean> {
    const given = chunks.give(record.isBehind)
    if (given === 'given') return true
    if (given !== 'none') {
      await stirs(given)
      return true
    }
    // After the chunks: it may be one of them that the code waits for.
    const owed = record.owed()
    if (owed) {
      const hasStirred = await stirs(ports.time.graceMs())
      if (!hasStirred && record.owed() === owed && core.ended === undefined) ports.bodies.missed(owed, true)
      return true
    }
    const next = record.turn
    if (next) await take(record, next)
    return next !== undefined
  }

  async function take(record: Cursor, { call: recorded, tried, isEnd }: Turn): Promise<void> {
    const { step } = recorded
    const { ticks } = core
    if (!step) {
      recorded.isPassed = recorded.isShared || scopeFor(root, recorded) === 'over'
      if (recorded.isPassed) return record.pass()
      if (ports.outside.stalled(recorded)) return
      const hasStirred = await stirs(ports.time.graceMs())
      if (!hasStirred && !recorded.step && core.ended === undefined) ports.bodies.missed(recorded, false)
      return
    }
    if (step.recorded !== recorded || step.isOver || isClosed(step.scope)) return record.pass()
    if (!isEnd) {
      if (ports.bodies.enterAgain(step, tried)) return record.pass()
    } else if (ports.bodies.isPast(step, tried)) return record.pass()
    else {
      const outcome = await ports.bodies.endOf(step, tried)
      if (outcome) {
        record.pass()
        return deliver(step, outcome, tried.end?.eventId ?? null)
      }
    }
    if (core.ticks !== ticks) return
    if (!(await stirs(ports.time.graceMs()))) ports.bodies.unfinished(step, tried, isEnd)
  }

  /** Resolves at the next thing that happens, or after a while. */
  function notified(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(done, Math.max(0, ms))
      function done(): void {
        clearTimeout(timer)
        core.onNotify = nothing
        resolve()
      }
      core.onNotify = done
    })
  }

  /** Waits for the code to do something of its own; false when it does nothing any more. */
  async function stirs(graceMs: number): Promise<boolean> {
    const before = core.ticks
    // Pending work has no time limit here.
    do await notified(core.isBusy ? undefined : graceMs)
    while (core.ticks === before && core.isBusy)
    await quiet()
    return core.ticks !== before
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
        core.onNotify = nothing
        resolve()
      }
      if (inTurn++ < MAX_IN_TURN)
        core.onNotify = () => {
          if (core.ready[0]?.isDue === true && !root.hasSteps && core.writes.inFlight === 0) rested?.()
        }
    })
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
    openChild: options.openChild,
  }
}

const cannotDetach: Detach = () =>
  Promise.reject(
    new ClewError(
      'bad_option',
      'A run without a ledger cannot begin a detached child run',
      'Start it on a ledger, or leave out detach.',
    ),
  )

const BEGIN = { type: 'begin' } as const
const nothing = (): void => {}
