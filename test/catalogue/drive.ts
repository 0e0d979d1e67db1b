import {
  beginRun,
  canonicalText,
  type ClewEvent,
  foldRun,
  foldSteps,
  isTerminal,
  type JsonValue,
  type Ledger,
} from '@clew/ledger'
import type { Agent, Fault } from './agent.ts'
import { createMortal, type Kill } from './mortal.ts'
import { collect } from './record.ts'
import { answerTo, type Outside } from './random-programs.ts'
import { createMachine, type Machine } from './step-machine.ts'

export interface Driven {
  readonly runId: string
  readonly status: string
  /** Output, or error, as the record has it. */
  readonly result: JsonValue
  readonly acknowledged: readonly ClewEvent[]
  /** Appends of each life. */
  readonly appends: readonly number[]
}

export interface DriveOptions {
  readonly ledger: Ledger
  readonly outside: Outside
  readonly faults?: ReadonlySet<Fault> | undefined
  /** One per life; the life after the last one is not killed. */
  readonly kills?: readonly Kill[]
  readonly seed?: string
}

const MAX_LIVES = 60

/** A run from its start to its end, through deaths and pauses, each life with a machine that remembers nothing. */
export async function drive(agent: Agent, runId: string, options: DriveOptions): Promise<Driven> {
  return live(
    runId,
    options,
    (machine) => machine.start(agent, { acc: 1 }, { runId, seed: options.seed }),
    agent,
  )
}

export async function driveFork(
  agent: Agent,
  source: { runId: string; seq: number },
  runId: string,
  options: DriveOptions,
): Promise<Driven> {
  return live(runId, options, (machine) => machine.fork(agent, source, runId), agent)
}

async function live(
  runId: string,
  { ledger, outside, faults = new Set(), kills = [] }: DriveOptions,
  begin: (machine: Machine) => Promise<unknown>,
  agent: Agent,
): Promise<Driven> {
  const acknowledged: ClewEvent[] = []
  const appends: number[] = []
  for (let life = 0; life < MAX_LIVES; life++) {
    const summary = await ledger.getRun(runId)
    if (summary && (isTerminal(summary.status) || summary.status === 'blocked')) {
      const result = await resultOf(ledger, runId)
      return { runId, status: summary.status, result, acknowledged, appends }
    }
    const mortal = createMortal(ledger, kills[life])
    const machine = createMachine({ ledger: mortal.ledger, faults })
    const [pause] = summary?.status === 'paused' ? summary.pauses : []
    const answer = pause && { pauseId: pause.pauseId, answer: answerOf(pause.question as JsonValue, outside) }
    const work = summary ? machine.resume(agent, runId, answer) : begin(machine)
    await Promise.race([work, mortal.died])
    acknowledged.push(...mortal.acknowledged)
    appends.push(mortal.appends)
  }
  throw new Error(`Run ${runId} did not end within ${MAX_LIVES} lives`)
}

/** A person who looks at the world: what was done is done, what was not is tried again. */
function answerOf(question: JsonValue, outside: Outside): JsonValue {
  const { unknown, idempotencyKey } = question as { unknown?: string; idempotencyKey?: string }
  if (unknown === undefined) return answerTo(question)
  const output = outside.done.get(idempotencyKey ?? '')
  return output === undefined ? { choice: 'retry' } : { choice: 'done', output }
}

export async function resultOf(ledger: Ledger, runId: string): Promise<JsonValue> {
  let result: JsonValue = null
  for await (const { eventType, payload } of ledger.read(runId, {
    types: ['execution.completed', 'system.workflow_failed', 'system.workflow_blocked'],
  }))
    result = (payload['output'] ?? payload['error'] ?? { eventType, ...payload }) as JsonValue
  return result
}

/** Everything that must hold for any run that came to its end, whatever happened on the way. */
export async function checkRun(ledger: Ledger, runId: string, outside: Outside): Promise<string[]> {
  const wrong: string[] = []
  const claim = (holds: boolean, what: string): void => void (holds || wrong.push(`${runId}: ${what}`))
  const events = await collect(ledger.read(runId))
  claim(new Set(events.map((event) => event.eventId)).size === events.length, 'L4 an event stands twice')

  const ids = new Set<string>()
  for (const event of events) {
    const known = event.causationId === null || ids.has(event.causationId) || event.ledger.seq === 1
    claim(known, `L9 ${event.eventType} comes before its cause`)
    ids.add(event.eventId)
  }
  const [first] = events
  let summary = first && beginRun(first)
  let last = ''
  for (const event of events) {
    if (!summary) break
    // The output of a function ends its run for the fold, and the end of the run is written with it.
    const isToldTwice = last === 'execution.completed' && event.eventType === 'system.workflow_completed'
    // A signal may come as the run ends: it stays unread.
    const isAllowed =
      event.eventType === 'system.workflow_forked' || event.eventType === 'system.signal_received'
    claim(!isTerminal(summary.status) || isAllowed || isToldTwice, `R0 ${event.eventType} after the end`)
    last = event.eventType
    summary = foldRun(summary, event)
    // A signal that came just before wakes it at once.
    const waits = event.payload['awaits'] !== undefined
    const asks = event.eventType !== 'system.workflow_paused' || summary.status === 'paused' || waits
    const isAsking = summary.pauses.length > 0 || summary.awaits !== undefined
    claim(asks && (summary.status !== 'paused' || isAsking), 'R6 paused without a question')
  }
  claim(summary !== undefined && isTerminal(summary.status), `R0 ended as ${summary?.status}`)
  claim(summary?.pauses.length === 0, 'R6 an open question in a run that has ended')

  const steps = foldSteps(events)
  const seen = new Set<string>()
  for (const step of steps) {
    const { parentStepId, nodeName, stepId, attempt, status } = step
    const id = JSON.stringify([parentStepId, nodeName, stepId.slice((parentStepId ?? '').length), attempt])
    claim(!seen.has(id), `R2 the step ${id} is not unique`)
    seen.add(id)
    claim(
      status !== 'running' && status !== 'paused',
      `R5 ${stepId} (attempt ${attempt}) is ${status} in a run that has ended`,
    )
    claim(
      parentStepId === null || steps.some((each) => each.stepId === parentStepId),
      `R2 ${stepId} has no parent`,
    )
  }
  // Steps that the run itself began stand in the stored skeleton just as they fold from all its events.
  for (const { ...stored } of await ledger.getSkeleton(runId)) {
    const { values: _, ...folded } =
      steps.find((step) => step.stepId === stored.stepId && step.attempt === stored.attempt) ?? {}
    claim(
      canonicalText(stored as never) === canonicalText(folded as never),
      `V2 ${stored.stepId} has two faces`,
    )
  }
  const superseded = steps.filter(
    (step) =>
      step.status === 'completed' &&
      steps.some(
        (other) =>
          other.stepId === step.stepId &&
          other.attempt > step.attempt &&
          other.inputDigest === step.inputDigest,
      ),
  )
  claim(superseded.length === 0, `R5 ${superseded[0]?.stepId} was tried again after it was completed`)
  for (const [id, count] of outside.executions)
    claim(count === 1, `R5 the effect ${id} was executed ${count} times in one attempt`)
  return wrong
}
