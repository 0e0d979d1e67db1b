import { hash } from 'node:crypto'
import {
  canonicalText,
  type ClewEvent,
  deriveId,
  type EventInput,
  formatStepId,
  inputDigest,
  type JsonValue,
  type Ledger,
} from '@clew/ledger'
import type { Agent, Divergence, Fault, Pause, Replayed, Run, RunResult } from './agent.ts'
import {
  attemptOf,
  hasBody,
  isFollowed,
  type Outcome,
  outcomeOf,
  type RunRecord,
  StepError,
  stepIdOf,
  withoutPast,
} from './record.ts'
import { isClosed, openScope, type Scope, type Step, type Work } from './step.ts'

export interface World {
  readonly ledger: Ledger
  readonly clock: () => number
  readonly faults: ReadonlySet<Fault>
  /** Starts or goes on with a child run; `answers` are those its parent has received. */
  child(agent: Agent, input: JsonValue, link: ChildLink): Promise<RunResult & { restored?: boolean }>
}

export interface ChildLink {
  readonly runId: string
  readonly seed: string
  readonly parentRunId: string
  readonly parentStepId: string
  readonly cause: string
  readonly answers: RunRecord['answers']
}

export const sha256 = (text: string): string => hash('sha256', text)
export const SOURCE = { origin: 'agent', runtime: 'clew' } as const
/** Belongs to the step and what it was given: the same for each attempt, another one for another input. */
export const idempotencyKeyOf = (runId: string, stepId: string, digest: string): string =>
  deriveId(sha256, runId, 'effect', stepId, digest)
const quiet = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
const never = new Promise<never>(() => {})
const same = (a: unknown, b: unknown): boolean =>
  canonicalText(a as JsonValue) === canonicalText(b as JsonValue)

export interface ExecuteOptions {
  readonly world: World
  readonly agent: Agent
  readonly runId: string
  readonly record: RunRecord
  /** `replay` writes nothing and calls no effect. */
  readonly replay: boolean
}

/**
 * Runs a durable function over its record, then beyond it. Everything that wakes the code is an event; events
 * are handed over one at a time, in recorded order, and the code comes to rest before the next one. Live, resumed
 * and replayed code therefore makes the same calls in the same order, and the same ordinals name the same steps.
 */
export function execute({ world, agent, runId, record: whole, replay }: ExecuteOptions): {
  live(): Promise<RunResult>
  replayed(): Promise<Replayed>
} {
  const { ledger, faults } = world
  const record = replay ? whole : withoutPast(whole)
  const wakes = faults.has('completion-order-ignored') ? byStart(record) : [...record.wakes]
  const seed = record.started.payload['seed'] as string
  const steps = new Map<string, Step>()
  const completed = [...whole.attempts.values()]
    .flat()
    .flatMap(({ start, end }) => (end?.eventType === 'execution.step_completed' ? [{ start, end }] : []))
    .map(({ start, end }) => ({ stepId: stepIdOf(end), digest: start.payload['inputDigest'], end }))
  const ready: ClewEvent[] = []
  const settled: Step[] = []
  const waiting = new Set<Step>()
  const deferred: (() => void)[] = []
  const readings: [string, number][] = []
  const root = openScope('', null, agent.name, 0)
  let rootResult: Outcome | undefined
  let cause = record.started.eventId
  let called = 0
  let starts = [...whole.attempts.values()].reduce((sum, attempts) => sum + attempts.length, 0)
  let busy = 0
  let caughtUp = false
  let divergence: Divergence | undefined
  let fatal: Error | undefined
  let wake = (): void => {}

  function diverge(
    kind: Divergence['kind'],
    stepId: string | null,
    expected: unknown,
    received: unknown,
  ): void {
    divergence ??= { kind, stepId, expected, received }
    wake()
  }

  // --- writing ---------------------------------------------------------------------------------------------

  function draft(
    eventType: string,
    ids: (string | number)[],
    causationId: string,
    payload: Record<string, unknown>,
  ) {
    const eventId = deriveId(sha256, runId, eventType, ...ids)
    const clock = readings.splice(0)
    return {
      eventType,
      eventId,
      correlationId: runId,
      causationId,
      source: SOURCE,
      payload: { ...payload, ...(clock.length > 0 && { clock }) },
    } satisfies EventInput
  }

  async function send(events: readonly EventInput[]): Promise<readonly ClewEvent[]> {
    busy++
    try {
      return await ledger.append(events)
    } catch (error) {
      fatal ??= error as Error
      return never
    } finally {
      busy--
      wake()
    }
  }

  // --- calls -----------------------------------------------------------------------------------------------

  function call(scope: Scope, name: string, input: JsonValue, work: Work, key?: string): Promise<JsonValue> {
    if (isClosed(scope) || divergence) return never
    const counter = faults.has('global-ordinals') ? root.ordinals : scope.ordinals
    const ordinal = key === undefined ? (counter.get(name) ?? 0) : 0
    if (key === undefined) counter.set(name, ordinal + 1)
    const stepId = formatStepId({ parentStepId: scope.path || null, name, key, ordinal })
    if (key !== undefined && scope.keys.has(stepId))
      throw new Error(`The key ${key} names two calls of ${name}`)
    scope.keys.add(stepId)
    const digest = inputDigest(sha256, input)
    // What an earlier attempt of this body had completed is given back at once: no event tells of it, none is needed.
    const before = completed.find(
      (each) => each.stepId === stepId && each.digest === digest && each.end.ledger.seq < scope.since,
    )
    if (before) return Promise.resolve((before.end.payload['output'] ?? null) as JsonValue)
    const tried = Math.max(
      steps.get(stepId)?.attempt ?? 0,
      ...(whole.attempts.get(stepId) ?? []).map(({ start }) => attemptOf(start)),
    )
    return new Promise((resolve, reject) => {
      const base = { stepId, name, key, ordinal, scope, input, digest, work, resolve, reject }
      const step: Step = {
        ...base,
        attempt: 0,
        failures: 0,
        startId: '',
        open: false,
        body: undefined,
        result: undefined,
        pauses: [],
      }
      steps.set(stepId, step)
      const recorded = record.calls[called]
      if (recorded) {
        called++
        if (compareCall(step, recorded)) adopt(step, recorded)
      } else if (!replay) startAttempt(step, tried + 1, cause)
      else if (record.end) diverge('extra', stepId, null, stepId)
    })
  }

  /** D2: the n-th call of the code is the n-th call of the record, with the same input and for the same reason. */
  function compareCall({ stepId, work, digest }: Step, recorded: ClewEvent): boolean {
    const { payload } = recorded
    const expected = stepIdOf(recorded)
    if (expected !== stepId)
      diverge(record.attempts.has(stepId) ? 'order' : 'extra', stepId, expected, stepId)
    else if (payload['kind'] !== work.kind) diverge('kind', stepId, payload['kind'], work.kind)
    else if (payload['inputDigest'] !== digest && !faults.has('digest-ignored'))
      diverge('input', stepId, payload['inputDigest'], digest)
    else if (recorded.causationId !== cause && !faults.has('cause-ignored'))
      diverge('order', stepId, recorded.causationId, cause)
    return divergence === undefined
  }

  /** Takes over what the record has of a step; what was in flight waits until the record is used up. */
  function adopt(step: Step, recorded: ClewEvent): void {
    const all = whole.attempts.get(step.stepId) ?? []
    const attempts = all.filter(({ start }) => start.ledger.seq >= recorded.ledger.seq)
    const last = attempts.at(-1)
    if (!last || replay) return
    step.attempt = attemptOf(last.start)
    step.startId = last.start.eventId
    step.failures = attempts.filter(({ end }) => end?.eventType === 'execution.step_failed').length
    step.open = last.end === undefined
    if (last.end ? isFollowed(last.end) : !hasBody(step.work.kind))
      deferred.push(() => recover(step, last.start, last.end))
  }

  function recover(step: Step, start: ClewEvent, ended: ClewEvent | undefined): void {
    if (isClosed(step.scope)) return
    const { attempt, work } = step
    const foreign = start.correlationId !== runId
    if (faults.has('attempts-forgotten') && work.kind === 'effect') {
      step.failures = 0
      startAttempt(step, 1, start.causationId as string)
    } else if (ended) startAttempt(step, attempt + 1, ended.eventId)
    else if (work.kind === 'effect' && work.safety !== 'read') askOutcome(step)
    else if (work.kind === 'effect' || (work.kind === 'child' && foreign)) startAgain(step)
    else if (work.kind === 'interrupt') {
      // A fork may have been answered before it parted, under its source's pause, or since then.
      const answer = [start.correlationId, runId]
        .map((owner) => record.answers.get(pauseIdOf(owner, step)))
        .find(Boolean)
      if (answer) end(step, { output: answer.payload['answer'] as JsonValue }, { cause: answer.eventId })
      else perform(step)
    } else perform(step)
  }

  const keyOf = ({ stepId, digest }: Step): string => idempotencyKeyOf(runId, stepId, digest)
  const pauseIdOf = (owner: string, { stepId, attempt }: Step): string =>
    deriveId(sha256, owner, 'pause', stepId, attempt)

  function startAgain(step: Step): void {
    const { stepId, attempt } = step
    const cut = draft('execution.step_interrupted', [stepId, attempt], record.last.eventId, {
      stepId,
      attempt,
    })
    startAttempt(step, attempt + 1, cut.eventId, [cut])
  }

  /** R10: nobody knows whether it happened, so somebody has to say. */
  function askOutcome(step: Step): void {
    const pauseId = deriveId(sha256, runId, 'unknown', step.stepId, step.attempt)
    const answer = record.answers.get(pauseId)
    if (!answer) {
      const { stepId, attempt, input } = step
      const idempotencyKey = keyOf(step)
      const question = {
        unknown: 'outcome',
        stepId,
        attempt,
        idempotencyKey,
        input,
        choices: ['done', 'retry', 'abort'],
      }
      step.pauses = [{ pauseId, question }]
      waiting.add(step)
      return
    }
    const { choice, output = null } = answer.payload['answer'] as { choice: string; output?: JsonValue }
    if (choice === 'retry') startAgain(step)
    else if (choice === 'done') end(step, { output }, { cause: answer.eventId })
    else
      end(
        step,
        { error: new StepError('Error', 'aborted', 'its outcome is not known') },
        { cause: answer.eventId },
      )
  }

  // --- work ------------------------------------------------------------------------------------------------

  function startAttempt(
    step: Step,
    attempt: number,
    causationId: string,
    before: readonly EventInput[] = [],
  ): void {
    const { stepId, name, key, ordinal, scope, input, digest, work } = step
    const { kind } = work
    const event = draft('execution.step_started', [stepId, attempt], causationId, {
      stepId,
      parentStepId: scope.path || null,
      name,
      ...(key === undefined ? { ordinal } : { key }),
      attempt,
      kind,
      superstep: starts++,
      inputDigest: digest,
      input,
      ...(kind === 'effect' && { safety: work.safety }),
      ...(kind === 'child' && { childRunId: childIdOf(stepId, attempt) }),
    })
    step.attempt = attempt
    step.startId = event.eventId
    step.open = true
    const handoff =
      kind === 'handoff'
        ? [
            draft('execution.handoff', [stepId, attempt], event.eventId, {
              from: scope.agent,
              to: name,
              reason: work.reason,
              stepId,
            }),
          ]
        : []
    void begin(step, [...before, event, ...handoff], before.length)
  }

  async function begin(step: Step, events: readonly EventInput[], at: number): Promise<void> {
    const stored = await send(events)
    if (hasBody(step.work.kind)) ready.push(stored[at] as ClewEvent)
    else if (caughtUp) perform(step)
    else deferred.push(() => perform(step))
  }

  const childIdOf = (stepId: string, attempt: number): string =>
    deriveId(sha256, runId, 'child', stepId, attempt)

  function perform(step: Step): void {
    if (!step.open || isClosed(step.scope)) return
    const { work } = step
    if (work.kind === 'effect') void performEffect(step, work)
    else if (work.kind === 'child') void performChild(step, work.agent)
    else {
      step.pauses = [{ pauseId: pauseIdOf(runId, step), question: step.input }]
      waiting.add(step)
    }
  }

  async function performEffect(step: Step, { fn, tries }: Work & { kind: 'effect' }): Promise<void> {
    const { attempt, input } = step
    busy++
    const outcome = await settle(() => fn(input, { attempt, idempotencyKey: keyOf(step) }))
    busy--
    wake()
    concludeTry(step, outcome, tries)
  }

  /** The step's end, or a failure that says when it is tried again, and then that. */
  function concludeTry(step: Step, outcome: Outcome, tries: number, before: EventInput[] = []): void {
    if ('output' in outcome || step.failures + 1 >= tries) end(step, outcome, { before })
    else void tryAgain(step, outcome.error, before)
  }

  async function tryAgain(step: Step, error: StepError, before: EventInput[]): Promise<void> {
    if (!step.open || isClosed(step.scope)) return
    const { stepId, attempt, startId } = step
    const payload = { stepId, attempt, error: error.toJSON(), retryInMs: 0 }
    const failed = draft('execution.step_failed', [stepId, attempt], startId, payload)
    step.failures++
    step.open = false
    await send([...before, failed])
    if (!isClosed(step.scope)) startAttempt(step, attempt + 1, failed.eventId)
  }

  async function performChild(step: Step, child: Agent): Promise<void> {
    const { stepId, attempt, input } = step
    busy++
    const link = {
      runId: childIdOf(stepId, attempt),
      seed: sha256(`${seed} child ${stepId}`),
      parentRunId: runId,
      parentStepId: stepId,
      cause: step.startId,
      answers: record.answers,
    }
    let result: Awaited<ReturnType<World['child']>>
    try {
      result = await world.child(child, input, link)
    } catch (error) {
      fatal ??= error as Error
      return
    } finally {
      busy--
      wake()
    }
    if (result.status === 'completed') end(step, { output: result.output }, { restored: result.restored })
    else if (result.status === 'failed') end(step, { error: result.error })
    else if (result.status === 'blocked') fatal ??= new Error(`The child run ${link.runId} is blocked`)
    else {
      step.pauses = result.pauses
      waiting.add(step)
    }
  }

  function end(
    step: Step,
    outcome: Outcome,
    {
      cause: by = step.startId,
      restored,
      before = [],
    }: { cause?: string; restored?: boolean | undefined; before?: EventInput[] } = {},
  ): void {
    if (!step.open || isClosed(step.scope)) return
    const { stepId, attempt } = step
    step.open = false
    const event =
      'output' in outcome
        ? draft('execution.step_completed', [stepId, attempt], by, {
            stepId,
            attempt,
            output: outcome.output,
            ...(restored && { restored }),
          })
        : draft('execution.step_failed', [stepId, attempt], by, {
            stepId,
            attempt,
            error: outcome.error.toJSON(),
          })
    void conclude(step, [...before, event])
  }

  async function conclude(step: Step, events: readonly EventInput[]): Promise<void> {
    const early = faults.has('used-before-recorded') && step.work.kind === 'effect'
    if (early) ready.push({ ...events.at(-1), ledger: { seq: 0 } } as ClewEvent)
    const stored = await send(events)
    const event = stored.at(-1) as ClewEvent
    if (!early) ready.push(event)
    if (event.eventType === 'execution.step_completed')
      completed.push({ stepId: step.stepId, digest: step.digest, end: event })
  }

  /** D3: what a body or a run leaves running when it ends is stopped with it. */
  function stopBelow(scope: Scope): EventInput[] {
    scope.closed = true
    if (faults.has('losers-left-open')) return []
    const losers = [...steps.values()].filter((step) => step.open && isClosed(step.scope))
    return losers.map((step) => {
      step.open = false
      const { stepId, attempt } = step
      return draft('execution.step_stopped', [stepId, attempt], cause, {
        stepId,
        attempt,
        reason: 'left behind',
      })
    })
  }

  // --- the loop --------------------------------------------------------------------------------------------

  function enter(step: Step, since: number): void {
    const { stepId, work } = step
    if (work.kind !== 'compute' && work.kind !== 'handoff') return
    const body = openScope(stepId, step.scope, work.kind === 'handoff' ? step.name : step.scope.agent, since)
    body.reads = record.clock.get(stepId)?.filter(({ seq }) => seq < since).length ?? 0
    step.body = body
    step.result = undefined
    void runBody(step, () => work.fn(runOf(body), step.input))
  }

  async function runBody(step: Step, work: () => Promise<JsonValue>): Promise<void> {
    step.result = await settle(work)
    settled.push(step)
    wake()
  }

  async function runCode(): Promise<void> {
    rootResult = await settle(() => agent.fn(runOf(root), record.started.payload['input'] as JsonValue))
    wake()
  }

  function closeBodies(): void {
    for (const step of settled.splice(0)) {
      const { scope, body, result, work } = step
      if (isClosed(scope) || !body || !result || !('tries' in work)) continue
      if (replay) body.closed = true
      else concludeTry(step, result, work.tries, stopBelow(body))
    }
  }

  function deliver(event: ClewEvent): void {
    const step = steps.get(stepIdOf(event))
    if (!step) return diverge('missing', stepIdOf(event), stepIdOf(event), null)
    const begins = event.eventType === 'execution.step_started'
    if (replay && !begins) compareBody(step, event)
    if (isClosed(step.scope) || divergence || isFollowed(event)) return
    cause = event.eventId
    if (begins) return enter(step, event.ledger.seq)
    const outcome = outcomeOf(event)
    if ('output' in outcome) step.resolve(outcome.output)
    else step.reject(outcome.error)
  }

  /** D2: code that runs again gives the same again, also when nobody waited for it in the end. */
  function compareBody({ stepId, body, result }: Step, recorded: ClewEvent): void {
    if (!body) return
    const expected = outcomeOf(recorded)
    if (!result) diverge('unfinished', stepId, expected, null)
    else if (!sameOutcome(expected, result)) diverge('output', stepId, expected, result)
  }

  /** The next thing to wake the code with: first the record, then what happens now, in the order of commit. */
  function nextWake(): ClewEvent | undefined {
    return wakes.shift() ?? ready.sort((a, b) => a.ledger.seq - b.ledger.seq).shift()
  }

  /** Goes on until the code has ended, diverged, or waits for nothing that is under way. */
  async function loop(): Promise<void> {
    void runCode()
    for (;;) {
      await quiet()
      if (fatal) throw fatal
      if (divergence) return
      closeBodies()
      if (rootResult) return
      const event = nextWake()
      if (event) {
        deliver(event)
        if (faults.has('woken-all-at-once')) for (const each of ready.splice(0)) deliver(each)
        continue
      }
      if (replay) return
      if (!caughtUp) {
        if (called < record.calls.length) return
        caughtUp = true
        for (const go of deferred.splice(0)) go()
        continue
      }
      if (busy === 0 && settled.length === 0 && pauses().length > 0) return
      await new Promise<void>((resolve) => {
        wake = resolve
        if (ready.length > 0 || settled.length > 0 || rootResult || fatal) resolve()
      })
    }
  }

  function pauses(): (Pause & { step: Step })[] {
    const asking = [...waiting].filter((step) => step.open && !isClosed(step.scope))
    return asking.flatMap((step) => step.pauses.map((pause) => ({ ...pause, step })))
  }

  /** D2: recorded calls that the code has not made. */
  function checkCalls(): void {
    const missed = record.calls[called]
    if (missed) diverge('missing', stepIdOf(missed), stepIdOf(missed), null)
  }

  async function pause(): Promise<RunResult> {
    const open = pauses()
    const asked = open
      .filter(({ pauseId }) => !record.questions.has(pauseId))
      .map(({ pauseId, question, step: { stepId, attempt, startId } }) =>
        draft('ui.input_requested', [pauseId], startId, { pauseId, stepId, attempt, question }),
      )
    const life = record.last.ledger.seq
    const paused = draft('system.workflow_paused', [life], asked.at(-1)?.eventId ?? cause, {
      pauseIds: open.map(({ pauseId }) => pauseId),
    })
    if (faults.has('pause-before-question')) {
      await send([paused])
      await send(asked)
    } else await send([...asked, paused])
    return { status: 'paused', pauses: open.map(({ pauseId, question }) => ({ pauseId, question })) }
  }

  async function finish(outcome: Outcome): Promise<RunResult> {
    const stopped = stopBelow(root)
    if ('output' in outcome) {
      const completed = draft('execution.completed', [], cause, { output: outcome.output })
      await send([...stopped, completed, draft('system.workflow_completed', [], completed.eventId, {})])
      return { status: 'completed', output: outcome.output }
    }
    await send([...stopped, draft('system.workflow_failed', [], cause, { error: outcome.error.toJSON() })])
    return { status: 'failed', error: outcome.error }
  }

  return {
    async live() {
      await loop()
      checkCalls()
      if (divergence) {
        const { kind, stepId } = divergence
        await send([
          draft('system.workflow_blocked', [record.last.ledger.seq], record.last.eventId, {
            reason: `diverged: ${kind}`,
            stepId: stepId ?? '',
          }),
        ])
        return { status: 'blocked', divergence }
      }
      return rootResult ? finish(rootResult) : pause()
    },
    async replayed() {
      await loop()
      checkCalls()
      for (const event of wakes) {
        const step = steps.get(stepIdOf(event))
        if (step && event.eventType !== 'execution.step_started') compareBody(step, event)
      }
      if (!divergence && record.end) {
        const expected = outcomeOf(record.end)
        if (!rootResult) diverge('unfinished', null, expected, null)
        else if (!sameOutcome(expected, rootResult)) diverge('output', null, expected, rootResult)
        else if (record.end.causationId !== cause && !faults.has('cause-ignored'))
          diverge('order', null, record.end.causationId, cause)
      }
      return { verdict: divergence ? 'diverged' : 'identical', divergence, outcome: rootResult }
    },
  }

  function runOf(scope: Scope): Run {
    const draw = (what: string): string => sha256(`${seed}\n${scope.path}\n${what}\n${scope.draws++}`)
    return {
      step: (name, input, fn, { tries = 1 } = {}) => call(scope, name, input, { kind: 'compute', fn, tries }),
      effect: (name, input, fn, { key, safety = 'read', tries = 1 } = {}) =>
        call(scope, name, input, { kind: 'effect', fn, safety, tries }, key),
      interrupt: (question) => call(scope, 'interrupt', question, { kind: 'interrupt' }),
      child: (name, child, input) => call(scope, name, input, { kind: 'child', agent: child }),
      handoff: (to, input, reason) =>
        call(scope, to.name, input, { kind: 'handoff', fn: to.fn, tries: 1, reason }),
      now() {
        const known = record.clock.get(scope.path)?.[scope.reads++]
        if (known && !faults.has('clock-read-again')) return known.ms
        const ms = world.clock()
        readings.push([scope.path, ms])
        return ms
      },
      random: () => Number.parseInt(draw('random').slice(0, 13), 16) / 2 ** 52,
      uuid: () => deriveId(sha256, seed, draw('uuid')),
    }
  }
}

async function settle(work: () => Promise<JsonValue>): Promise<Outcome> {
  try {
    return { output: (await work()) ?? null }
  } catch (error) {
    return { error: StepError.from(error) }
  }
}

function sameOutcome(a: Outcome, b: Outcome): boolean {
  if ('output' in a) return 'output' in b && same(a.output, b.output)
  return 'error' in b && same(a.error.toJSON(), b.error.toJSON())
}

/** The planted mistake: each step wakes the code when its turn by start comes, not when it really ended. */
function byStart(record: RunRecord): ClewEvent[] {
  const place = new Map(record.calls.map((call, i) => [stepIdOf(call), i]))
  return record.wakes.toSorted((a, b) => (place.get(stepIdOf(a)) ?? 0) - (place.get(stepIdOf(b)) ?? 0))
}
