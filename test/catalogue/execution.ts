import type { ClewEvent, JsonValue } from '@clew/ledger'
import type { Divergence, Pause, Replayed, RunResult } from './agent.ts'
import { concludeTry, stopBelow } from './attempts.ts'
import { runOf } from './calls.ts'
import { diverge, draft, type ExecuteOptions, type Going, openGoing, send } from './going.ts'
import { sameOutcome, settle } from './outcome.ts'
import { isFollowed, type Outcome, outcomeOf, stepIdOf } from './record.ts'
import { isClosed, openScope, type Step } from './step.ts'

/**
 * Runs a durable function over its record, then beyond it. Everything that wakes the code is an event; events
 * are handed over one at a time, in recorded order, and the code comes to rest before the next one. Live, resumed
 * and replayed code therefore makes the same calls in the same order, and the same ordinals name the same steps.
 */
export function execute(options: ExecuteOptions): {
  live(): Promise<RunResult>
  replayed(): Promise<Replayed>
} {
  const going = openGoing(options)
  return {
    async live() {
      await goOn(going)
      checkCalls(going)
      if (going.divergence) return block(going, going.divergence)
      return going.rootResult ? finish(going, going.rootResult) : pause(going)
    },
    async replayed() {
      await goOn(going)
      checkCalls(going)
      for (const event of going.wakes) {
        const step = going.steps.get(stepIdOf(event))
        if (step && event.eventType !== 'execution.step_started') compareBody(going, step, event)
      }
      compareEnd(going)
      const { divergence, rootResult: outcome } = going
      return { verdict: divergence ? 'diverged' : 'identical', divergence, outcome }
    },
  }
}

const quiet = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Goes on until the code has ended, diverged, or waits for nothing that is under way. */
async function goOn(going: Going): Promise<void> {
  const { ready, settled, deferred, record } = going
  void runCode(going)
  for (;;) {
    await quiet()
    if (going.fatal) throw going.fatal
    if (going.divergence) return
    closeBodies(going)
    if (going.rootResult) return
    const event = nextWake(going)
    if (event) {
      deliver(going, event)
      if (going.world.faults.has('woken-all-at-once'))
        for (const each of ready.splice(0)) deliver(going, each)
      continue
    }
    if (going.replay) return
    if (!going.caughtUp) {
      if (going.called < record.calls.length) return
      going.caughtUp = true
      for (const go of deferred.splice(0)) go()
      continue
    }
    if (going.busy === 0 && settled.length === 0 && pauses(going).length > 0) return
    await new Promise<void>((resolve) => {
      going.wake = resolve
      if (ready.length > 0 || settled.length > 0 || going.rootResult || going.fatal) resolve()
    })
  }
}

async function runCode(going: Going): Promise<void> {
  const { agent, root, record } = going
  const input = record.started.payload['input'] as JsonValue
  going.rootResult = await settle(() => agent.fn(runOf(going, root), input))
  going.wake()
}

function enter(going: Going, step: Step, since: number): void {
  const { stepId, work } = step
  if (work.kind !== 'compute' && work.kind !== 'handoff') return
  const body = openScope(stepId, step.scope, work.kind === 'handoff' ? step.name : step.scope.agent, since)
  body.reads = going.record.clock.get(stepId)?.filter(({ seq }) => seq < since).length ?? 0
  step.body = body
  step.result = undefined
  void runBody(going, step, () => work.fn(runOf(going, body), step.input))
}

async function runBody(going: Going, step: Step, work: () => Promise<JsonValue>): Promise<void> {
  step.result = await settle(work)
  going.settled.push(step)
  going.wake()
}

function closeBodies(going: Going): void {
  for (const step of going.settled.splice(0)) {
    const { scope, body, result, work } = step
    if (isClosed(scope) || !body || !result || !('tries' in work)) continue
    if (going.replay) body.closed = true
    else concludeTry(going, step, result, work.tries, stopBelow(going, body))
  }
}

/** The next thing to wake the code with: first the record, then what happens now, in the order of commit. */
const nextWake = ({ wakes, ready }: Going): ClewEvent | undefined =>
  wakes.shift() ?? ready.sort((a, b) => a.ledger.seq - b.ledger.seq).shift()

function deliver(going: Going, event: ClewEvent): void {
  const step = going.steps.get(stepIdOf(event))
  if (!step) return diverge(going, 'missing', stepIdOf(event), stepIdOf(event), null)
  const begins = event.eventType === 'execution.step_started'
  if (going.replay && !begins) compareBody(going, step, event)
  if (isClosed(step.scope) || going.divergence || isFollowed(event)) return
  going.cause = event.eventId
  if (begins) return enter(going, step, event.ledger.seq)
  const outcome = outcomeOf(event)
  if ('output' in outcome) step.resolve(outcome.output)
  else step.reject(outcome.error)
}

/** D2: code that runs again gives the same again, also when nobody waited for it in the end. */
function compareBody(going: Going, { stepId, body, result }: Step, recorded: ClewEvent): void {
  if (!body) return
  const expected = outcomeOf(recorded)
  if (!result) diverge(going, 'unfinished', stepId, expected, null)
  else if (!sameOutcome(expected, result)) diverge(going, 'output', stepId, expected, result)
}

/** D2: recorded calls that the code has not made. */
function checkCalls(going: Going): void {
  const missed = going.record.calls[going.called]
  if (missed) diverge(going, 'missing', stepIdOf(missed), stepIdOf(missed), null)
}

function compareEnd(going: Going): void {
  const { record, rootResult, cause, world } = going
  if (going.divergence || !record.end) return
  const expected = outcomeOf(record.end)
  if (!rootResult) diverge(going, 'unfinished', null, expected, null)
  else if (!sameOutcome(expected, rootResult)) diverge(going, 'output', null, expected, rootResult)
  else if (record.end.causationId !== cause && !world.faults.has('cause-ignored'))
    diverge(going, 'order', null, record.end.causationId, cause)
}

function pauses({ waiting }: Going): (Pause & { step: Step })[] {
  const asking = [...waiting].filter((step) => step.open && !isClosed(step.scope))
  return asking.flatMap((step) => step.pauses.map((each) => ({ ...each, step })))
}

async function pause(going: Going): Promise<RunResult> {
  const { record, world } = going
  const open = pauses(going)
  const asked = open
    .filter(({ pauseId }) => !record.questions.has(pauseId))
    .map(({ pauseId, question, step: { stepId, attempt, startId } }) =>
      draft(going, 'ui.input_requested', [pauseId], startId, { pauseId, stepId, attempt, question }),
    )
  const life = record.last.ledger.seq
  const paused = draft(going, 'system.workflow_paused', [life], asked.at(-1)?.eventId ?? going.cause, {
    pauseIds: open.map(({ pauseId }) => pauseId),
  })
  if (world.faults.has('pause-before-question')) {
    await send(going, [paused])
    await send(going, asked)
  } else await send(going, [...asked, paused])
  return { status: 'paused', pauses: open.map(({ pauseId, question }) => ({ pauseId, question })) }
}

async function finish(going: Going, outcome: Outcome): Promise<RunResult> {
  const stopped = stopBelow(going, going.root)
  if ('output' in outcome) {
    const completed = draft(going, 'execution.completed', [], going.cause, { output: outcome.output })
    const ended = draft(going, 'system.workflow_completed', [], completed.eventId, {})
    await send(going, [...stopped, completed, ended])
    return { status: 'completed', output: outcome.output }
  }
  const error = outcome.error.toJSON()
  await send(going, [...stopped, draft(going, 'system.workflow_failed', [], going.cause, { error })])
  return { status: 'failed', error: outcome.error }
}

async function block(going: Going, divergence: Divergence): Promise<RunResult> {
  const { last } = going.record
  const { kind, stepId } = divergence
  await send(going, [
    draft(going, 'system.workflow_blocked', [last.ledger.seq], last.eventId, {
      reason: `diverged: ${kind}`,
      stepId: stepId ?? '',
    }),
  ])
  return { status: 'blocked', divergence }
}
