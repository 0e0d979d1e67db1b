import { createCursor, type Cursor, type DivergencePolicy, type Found } from '../machine/cursor.ts'
import { createMachine } from '../machine/machine.ts'
import { createMachineState, quiet } from '../machine/machine-state.ts'
import type { Caller } from '../machine/machine-types.ts'
import { outcomeOf } from '../machine/payloads.ts'
import type { MachineParts, OutsidePort, Ports } from '../machine/ports.ts'
import { digestIn, lastOf, startOf } from '../machine/record.ts'
import { isClosed } from '../machine/scope.ts'
import type { CallSpec, Outcome, Step } from '../machine/step.ts'
import { compareRun, saidIn } from './compare-run.ts'
import { createLenientCursor, type LenientCursor } from './lenient-cursor.ts'
import { createStatementComparer, type StatementComparer } from './compare-statements.ts'
import { classifyDivergence } from './classify-divergence.ts'
import { createReplayBodies } from './replay-bodies.ts'
import {
  createReplayState,
  placeOf,
  reasonOf,
  type ReplayMachineOptions,
  type ReplayState,
  RUN,
} from './replay-state.ts'
import type { ReplayDivergence } from './report.ts'

/** Result of replaying one run, or one part of it. */
export interface ReplayPass {
  /** Undefined when the code has not come to its end. */
  readonly outcome: Outcome | undefined
  readonly divergences: readonly ReplayDivergence[]
  readonly made: readonly Step[]
}

export interface ReplayMachine {
  readonly caller: Caller
  go(code: () => Promise<unknown>): Promise<ReplayPass>
}

/** A replay ends with its record and is never aborted. */
const NO_SIGNAL = new AbortController().signal

/** After the first divergence nothing more is waited for than a moment. */
const SHORT_GRACE_MS = 50

/**
 * The same machine over a record that is complete: it gives the code what the record has, in recorded order, and compares
 * what the code does with what it did. It can neither write, wait, try again nor reach the outside.
 */
export function createReplayMachine(options: ReplayMachineOptions): ReplayMachine {
  const { record, ledger, comparison, isGraph, runId, threadId, seed } = options
  const lastMs = Date.parse(record.last.timestamp)
  const core = createMachineState({
    runId,
    threadId,
    agent: '',
    seed,
    ledger,
    record,
    durability: 'group',
    signal: NO_SIGNAL,
    listener: {},
    onStepEnd: () => {},
    awaitsCallsOnly: false,
    suspendAlways: false,
    // Beyond the record time stands still.
    now: () => lastMs,
    async openChild(program, link) {
      const child = await options.replayChild(program, link)
      if (!child) return { status: 'left' }
      for (const { kind, expected, received, ...place } of child.divergences)
        state.diverge(kind, { ...place, childRunId: place.childRunId ?? link.runId }, expected, received)
      return child.end
    },
  })
  const state = createReplayState(core, options)
  const statements = createStatementComparer(state)
  core.statements = statements
  const cursor = createCursor({
    record,
    comparison,
    policy: replayPolicy(state),
    root: core.root,
    isGraph,
    inOrder: true,
    recordedInput: options.inputOf,
    cause: () => core.cause,
  })
  let lenient: LenientCursor | undefined
  // After the first divergence calls are found by the lenient cursor; the places of the strict one stay.
  core.cursor = Object.assign(Object.create(cursor) as Cursor, {
    ask(step: Step): Found {
      const found = state.isLenient ? undefined : cursor.ask(step)
      // Also when the paths part just here.
      if (state.isLenient) {
        lenient?.ask(step)
        return { type: 'parted' }
      }
      if (found?.type === 'recorded') options.trace?.began(step, startOf(found.call))
      return found ?? { type: 'parted' }
    },
  })
  const machine = createMachine(core, (parts) => {
    const bodies = createReplayBodies(state, parts)
    lenient = createLenientCursor(state, bodies)
    return createReplayPorts(state, parts, { bodies, lenient, statements })
  })
  return { caller: machine, go: machine.go }
}

function replayPolicy(state: ReplayState): DivergencePolicy {
  const { record, core } = state
  let givenSeq = 0
  return {
    redoesShared: false,
    unrecorded(step, expected) {
      if (core.cursor) givenSeq = state.strict().givenSeq
      if (record.takenUp.some((seq) => seq > givenSeq)) return 'hold'
      return isBeyond(state, step, expected) ? 'begin' : 'part'
    },
    part({ step, expected }) {
      if (step && !step.recorded && isBeyond(state, step, expected)) return
      state.part({ step, expected })
    },
    differ({ kind, call, expected, received }) {
      const isReason = kind === 'order' && typeof expected === 'string'
      const inWords = (value: unknown): unknown =>
        isReason ? reasonOf(state, value as string | null) : value
      state.diverge(kind, placeOf(call), inWords(expected), inWords(received))
    },
  }
}

/** True if the code continues after the end of the record, which is no divergence. */
function isBeyond(state: ReplayState, step: Step, expected: unknown): boolean {
  const { replayed, scope } = step
  const { step: around } = scope
  const end = around?.recorded?.attempts[around.at]?.end
  const isOpenEnded = around
    ? end?.eventType !== 'execution.step_completed' && end?.eventType !== 'execution.step_failed'
    : state.record.end === undefined
  if (replayed) replayed.isBeyond = !expected && isOpenEnded
  return replayed?.isBeyond === true
}

interface ReplayParts {
  readonly bodies: ReturnType<typeof createReplayBodies>
  readonly lenient: LenientCursor
  readonly statements: StatementComparer
}

function createReplayPorts(
  state: ReplayState,
  { deliver, stirs }: MachineParts,
  { bodies, lenient, statements }: ReplayParts,
): Ports<ReplayPass> {
  const { core, options, record, made, belated } = state
  const { graceMs } = options

  const outside: OutsidePort = {
    turnAway(scope) {
      return core.isOver || isClosed(scope) ? core.unwinding.refuse() : undefined
    },
    made(step) {
      const { name, work } = step.spec
      step.replayed = {
        name,
        kind: work.kind,
        isBeyond: false,
        outcome: undefined,
        child: 'none',
        decision: null,
      }
      made.push(step)
    },
    begin() {},
    beginAgain() {},
    takeOver(step, call) {
      if (step.spec.work.kind !== 'child' && !step.refused) return
      if (call.attempts[0]?.end?.eventType === 'execution.step_interrupted') return
      // The input could not be stored then and cannot be now.
      if (step.refused && digestIn(startOf(call)) === '') call.isGiven = true
      else bodies.enter(step)
    },
    giveAgain: (step, outcome) => deliver(step, outcome, null),
    giveLate: (step) => void belated.push(step),
    mayForetell: () => true,
    stalled: () => deliverBelated(),
    delivered(step, outcome, eventId) {
      const end =
        eventId === null
          ? undefined
          : step.recorded?.attempts.find((each) => each.end?.eventId === eventId)?.end
      if (isClosed(step.scope)) return
      release(step)
      if (end) options.trace?.ended(end, outcome)
    },
  }

  function deliverBelated(): boolean {
    const step = belated.shift()
    const end = step?.recorded && lastOf(step.recorded).end
    if (step && end) deliver(step, outcomeOf(end, step.stepId), end.eventId)
    return step !== undefined
  }

  /** The record is used up. What it leaves open stays so. */
  async function beyond(): Promise<{ readonly rest: ReplayPass } | 'woken' | 'again'> {
    if (deliverBelated()) return 'woken'
    if (!record.end && core.working === 0) return { rest: await gone() }
    if ((await stirs(graceMs)) || core.working > 0) return 'woken'
    if (!record.end || core.ended || state.isLenient) return { rest: await gone() }
    const lost = state.strict().held.find(({ scope }) => !isClosed(scope))
    if (lost) state.part({ step: lost, expected: undefined })
    else state.diverge('output', { ...RUN, seq: record.end.ledger.seq }, saidIn(record.end), undefined)
    return 'again'
  }

  async function gone(): Promise<ReplayPass> {
    if (!state.isLenient && core.ended) statements.end()
    if (!state.isLenient && core.ended) compareRun(state, core.ended)
    if (!state.isLenient)
      for (const { replayed } of state.strict().held) if (replayed) replayed.isBeyond = true
    if (state.isLenient) await leniently()
    while (core.working > 0) await stirs(graceMs)
    const first = state.firstDivergence && classifyDivergence(state, state.firstDivergence)
    return {
      outcome: core.ended,
      divergences: first ? [first, ...state.divergences] : [],
      made,
    }
  }

  async function leniently(): Promise<void> {
    for (const step of state.strict().held) lenient.ask(step)
    for (;;) {
      await quiet()
      if (core.ended) return
      const given = core.chunks.give(() => true)
      if (given === 'given') continue
      const next = lenient.next()
      if (next) deliver(next.step, next.outcome, next.end?.eventId ?? null)
      else if (!(await stirs(core.unwinding.open.size > 0 ? Math.min(graceMs, SHORT_GRACE_MS) : graceMs)))
        return
    }
  }

  return {
    bodies,
    outside,
    time: {
      graceMs: () => Math.max(graceMs, state.isLenient ? 0 : (core.root.tape?.graceMs ?? 0)),
      limit() {},
    },
    begin() {},
    async rests() {
      return state.isLenient || core.ended ? gone() : undefined
    },
    beyond,
    flush() {},
    over() {},
  }
}

const OVER: CallSpec = { name: '', isInputKept: false, work: { kind: 'sleep', ms: 0 } }
const nothing = (): void => {}

/** Drops what only the code of a call needed. */
function release(step: Step): void {
  step.spec = OVER
  step.resolve = nothing
  step.reject = nothing
  step.body = undefined
  if (step.replayed) step.replayed.outcome = undefined
}
