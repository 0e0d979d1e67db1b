import type { ClewEvent } from '@clew/ledger'
import { quiet } from '../machine/machine-state.ts'
import { bindCall } from '../machine/current-run.ts'
import type { Caller } from '../machine/machine-types.ts'
import { nameCall } from '../machine/name-call.ts'
import { outcomeOf } from '../machine/payloads.ts'
import { isClosed, type Scope } from '../machine/scope.ts'
import { type CallSpec, type Completed, hasBody, mayGiveAgain, type Outcome } from '../machine/step.ts'
import { toStepError } from '../run.ts'
import { createBodies } from './bodies.ts'
import { isTimeout } from './judge-step.ts'
import { createLenientCalls } from './lenient-calls.ts'
import { nameParting } from './name-parting.ts'
import { digestIn, type RecordedCall, type Turn } from './recorded-run.ts'
import { createReplayCore, placeOf, type ReplayMachineOptions, scopeFor } from './replay-core.ts'
import { release, type ReplayStep } from './replay-step.ts'
import type { ReplayDivergence } from './report.ts'
import { judgeRun, RUN, saidIn } from './judge-run.ts'
import { isSameCall } from './same-value.ts'
import { createStrictCalls } from './strict-calls.ts'

/** What a replay of one run, or of one part of it, came to. */
export interface Gone {
  /** Undefined when the code has not come to its end. */
  readonly outcome: Outcome | undefined
  readonly divergences: readonly ReplayDivergence[]
  readonly made: readonly ReplayStep[]
}

export interface ReplayMachine {
  readonly caller: Caller
  go(code: () => Promise<unknown>): Promise<Gone>
}

/** After the first divergence nothing more is waited for than a moment. */
const SHORT_GRACE_MS = 50
const never = new Promise<never>(() => {})

/**
 * The second machine: it gives the code of a run what the record has, in recorded order, and compares what the code does
 * with what it did. It can neither write, wait, try again nor reach the outside.
 */
export function createReplayMachine(options: ReplayMachineOptions): ReplayMachine {
  const core = createReplayCore(options)
  const { record, root } = core
  const { graceMs } = options
  const bodies = createBodies(core, () => caller)
  const askStrictly = createStrictCalls(core, bodies)
  const lenient = createLenientCalls(core, bodies)
  let at = 0

  function call(scope: Scope, spec: CallSpec): Promise<Completed> {
    if (core.isOver || isClosed(scope)) return never
    const { stepId } = nameCall(scope, spec, options.ledger, record.has)
    const before = scope.attempt > 1 ? givenBefore(scope, stepId, spec) : undefined
    if (before) return Promise.resolve(before)
    return new Promise((resolve, reject) => {
      const step: ReplayStep = {
        stepId,
        name: spec.name,
        kind: spec.work.kind,
        spec,
        scope,
        resolve,
        reject,
        recorded: undefined,
        isSame: true,
        isBeyond: false,
        at: 0,
        body: undefined,
        enteredAt: -1,
        outcome: undefined,
        child: 'none',
        isOver: false,
        decision: null,
        abort: undefined,
      }
      core.made.push(step)
      core.open.add(step)
      if (!core.isLenient) askStrictly(step)
      // Also when the paths part just here.
      if (core.isLenient) lenient.ask(step)
      core.tick()
    })
  }

  /** What an earlier attempt of the body around had completed was given to this one at once, without an event. */
  function givenBefore(scope: Scope, stepId: string, spec: CallSpec): Completed | undefined {
    const tried = record.completedBefore(scope.attempt, stepId)
    if (!tried?.end) return undefined
    const digest = spec.digest ? spec.digest() : options.ledger.digest(spec.input ?? null)
    const isSame =
      digest === digestIn(tried.start) ||
      isSameCall(options.comparison, spec, tried.start.payload['input']) === 'same'
    if (!isSame) return undefined
    const outcome = outcomeOf(tried.end, stepId)
    return 'output' in outcome && mayGiveAgain(spec.work, outcome) ? outcome : undefined
  }

  async function go(code: () => Promise<unknown>): Promise<Gone> {
    core.wake(record.started.eventId)
    void runCode(code)
    await strictly()
    if (!core.isLenient && core.ended) judgeRun(core, core.ended)
    if (!core.isLenient) for (const step of core.doubtful) step.isBeyond = true
    if (core.isLenient) await leniently()
    while (core.working > 0) await core.stirs(graceMs)
    core.isOver = true
    core.controller.abort()
    const first = core.parting && nameParting(core, core.parting)
    return {
      outcome: core.ended,
      divergences: first ? [first, ...core.divergences] : [],
      made: core.made,
    }
  }

  async function runCode(code: () => Promise<unknown>): Promise<void> {
    try {
      core.ended = { output: (await bindCall({ scope: root, run }, code)) ?? null }
    } catch (error) {
      core.ended = { error: toStepError(error, null) }
    }
    core.tick()
  }

  /** Turn by turn, each when the code has come to rest after the one before. */
  async function strictly(): Promise<void> {
    for (;;) {
      await quiet()
      if (core.isLenient || core.ended) return
      core.isWoken = false
      const given = core.pieces.give(isBehind)
      if (given === 'given') continue
      if (given !== 'none') {
        await core.stirs(given)
        continue
      }
      // After the pieces: it may be one of them that the code waits for.
      if (core.owed.size > 0 && !(await settleOwed())) continue
      const turn = record.turns[at]
      if (turn) await take(turn)
      else if (await isAtEnd()) return
    }
  }

  const isBehind = (eventId: string): boolean => {
    const turn = record.turns[at]
    const seq = record.seqs.get(eventId)
    return !turn || seq === undefined || seq < seqOf(turn)
  }
  const seqOf = ({ tried, isEnd }: Turn): number => (isEnd && tried.end ? tried.end : tried.start).ledger.seq

  /** True when the code has made all the calls that it made before it was woken again. */
  async function settleOwed(): Promise<boolean> {
    for (const owed of core.owed) if (scopeFor(core, owed) === 'over') core.owed.delete(owed)
    const [first] = core.owed
    if (!first) return true
    if (!(await core.stirs(graceMs)) && core.owed.has(first) && !core.isLenient && !core.ended)
      core.part({ step: doubtfulIn(scopeFor(core, first)), expected: first, found: undefined })
    return false
  }

  const doubtfulIn = (scope: Scope | 'over' | undefined): ReplayStep | undefined =>
    core.doubtful.find((step) => step.scope === scope)

  /** The attempt under way has come to its end, or its time was over. */
  const isTried = (step: ReplayStep): boolean => {
    const end = step.recorded?.attempts[step.at]?.end
    return (
      step.outcome !== undefined || end?.eventType === 'execution.step_interrupted' || isTimeout(step, end)
    )
  }

  function tryAgain(step: ReplayStep): void {
    if (step.body) step.body.closed = true
    step.at++
    step.outcome = undefined
    if (!isClosed(step.scope)) bodies.enter(step)
  }

  async function take(turn: Turn): Promise<void> {
    const { call: recorded, tried, isEnd } = turn
    const { step } = recorded
    if (!step) return takeUncalled(recorded)
    if (!isEnd) return takeAgain(step, turn)
    if (step.isOver || isClosed(step.scope)) return pass()
    if (step.recorded?.attempts[step.at] !== tried) {
      // A fork that passed by its source's attempts, or effects whose earlier attempts failed.
      step.at = recorded.attempts.indexOf(tried)
    }
    const end = tried.end
    if (!end) return pass()
    if (end.ledger.erased)
      return core.diverge('redacted', { ...placeOf(recorded), seq: end.ledger.seq }, null, null)
    const outcome = bodies.endOf(step, tried, end)
    if (core.isLenient) return
    if (outcome) {
      pass()
      core.givenSeq = end.ledger.seq
      options.onTurn(recorded.name)
      return deliver(step, outcome, end)
    }
    if (!(await core.stirs(graceMs)) && !core.isLenient && !step.outcome) unfinished(recorded, turn)
  }

  const pass = (): void => void at++

  async function takeUncalled(recorded: RecordedCall): Promise<void> {
    recorded.isPassed = recorded.isShared || scopeFor(core, recorded) === 'over'
    if (recorded.isPassed) return pass()
    const belated = core.belated.shift()
    if (belated) return deliverBelated(belated)
    if (!(await core.stirs(graceMs)) && !recorded.step && !core.isLenient && !core.ended)
      core.part({ step: undefined, expected: recorded, found: undefined })
  }

  async function takeAgain(step: ReplayStep, { tried, call: recorded }: Turn): Promise<void> {
    const isOwn = hasBody(step.spec.work) || step.spec.work.kind === 'child'
    const isEntered = recorded.attempts.indexOf(tried) <= step.at
    if (!isOwn || isEntered || recorded.isGiven || isClosed(step.scope)) return pass()
    if (isTried(step)) {
      pass()
      return tryAgain(step)
    }
    if (!(await core.stirs(graceMs)) && !core.isLenient && !isTried(step)) {
      const before = recorded.attempts[step.at]?.end
      core.diverge(
        'output',
        { ...placeOf(recorded), seq: before?.ledger.seq ?? null },
        'a failed attempt',
        null,
      )
    }
  }

  function deliverBelated(step: ReplayStep): void {
    const tried = step.recorded?.attempts.at(-1)
    if (tried?.end) deliver(step, outcomeOf(tried.end, step.stepId), tried.end)
  }

  function unfinished(recorded: RecordedCall, { tried }: Turn): void {
    const { end } = tried
    core.diverge(
      'output',
      { ...placeOf(recorded), seq: end?.ledger.seq ?? null },
      end && saidIn(end),
      undefined,
    )
  }

  function deliver(step: ReplayStep, outcome: Outcome, end: ClewEvent | null): void {
    const { resolve, reject } = step
    core.open.delete(step)
    release(step)
    if (isClosed(step.scope)) return
    if (end) {
      options.trace?.ended(end, outcome)
      core.wake(end.eventId)
    }
    if ('output' in outcome) resolve(outcome)
    else reject(outcome.error)
  }

  /** The record is used up. What it leaves open stays so. */
  async function isAtEnd(): Promise<boolean> {
    const belated = core.belated.shift()
    if (belated) {
      deliverBelated(belated)
      return false
    }
    if (!record.end && core.working === 0) return true
    if ((await core.stirs(graceMs)) || core.working > 0) return false
    if (!record.end || core.ended || core.isLenient) return true
    const lost = core.doubtful.find(({ scope }) => !isClosed(scope))
    if (lost) core.part({ step: lost, expected: undefined, found: undefined })
    else core.diverge('output', { ...RUN, seq: record.end.ledger.seq }, saidIn(record.end), undefined)
    return true
  }

  async function leniently(): Promise<void> {
    for (const step of core.doubtful) lenient.ask(step)
    for (;;) {
      await quiet()
      if (core.ended) return
      const given = core.pieces.give(() => true)
      if (given === 'given') continue
      const next = lenient.next()
      if (next) deliver(next.step, next.outcome, next.end)
      else if (!(await core.stirs(core.open.size > 0 ? Math.min(graceMs, SHORT_GRACE_MS) : graceMs))) return
    }
  }

  const run = bodies.runOf(root)
  const caller: Caller = {
    root,
    run,
    call,
    get cause() {
      return core.cause
    },
    async openChild(program, link) {
      const child = await options.replayChild(program, link)
      if (!child) return { status: 'left' }
      for (const { kind, expected, received, ...place } of child.divergences)
        core.diverge(kind, { ...place, childRunId: place.childRunId ?? link.runId }, expected, received)
      return child.end
    },
  }
  return { caller, go }
}
