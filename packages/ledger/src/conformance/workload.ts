import type { EventInput } from '../event/envelope.ts'
import type { Ledger } from '../ledger.ts'
import { createRandom, type Random, randomValue } from './random.ts'
import { forked, started } from './world.ts'

/** Everything that projections look at, in a random order that a seed repeats. */
export async function runWorkload(ledger: Ledger, seed: number, calls: number): Promise<string[]> {
  const random = createRandom(seed)
  const runs: string[] = []
  for (let i = 0; i < calls; i++) {
    if (runs.length === 0 || random.below(12) === 0)
      runs.push(await beginRun(ledger, random, runs, `run-${seed}-${i}`))
    const runId = random.pick(runs)
    const events = Array.from({ length: 1 + random.below(4) }, () => randomEvent(random, runId))
    await ledger.append(events)
    // A delivery that is repeated, alone and with news behind it.
    if (random.below(10) === 0) {
      const again = { ...randomEvent(random, runId), eventId: uuid(random) }
      await ledger.append([again])
      await ledger.append([again, randomEvent(random, runId)])
    }
  }
  return runs
}

async function beginRun(
  ledger: Ledger,
  random: Random,
  runs: readonly string[],
  runId: string,
): Promise<string> {
  const kind = random.below(4)
  if (kind === 0 && runs.length > 0) {
    const source = random.pick(runs)
    let last = 0
    for await (const event of ledger.read(source)) last = event.ledger.seq
    await ledger.record(forked(runId, source, 1 + random.below(last)))
  } else if (kind === 1) await ledger.append([randomEvent(random, runId)])
  else
    await ledger.record(
      started(runId, {
        agent: random.pick(['owl', 'fox']),
        agentVersion: '1',
        threadId: `thread-${random.below(3)}`,
        subjects: ['person-1', 'person-2'],
        input: randomValue(random),
      }),
    )
  return runId
}

function randomEvent(random: Random, runId: string): EventInput {
  const stepId = `${random.pick(['plan', 'search', 'write'])}#${random.below(3)}`
  const attempt = 1 + random.below(2)
  const pauseId = `pause-${random.below(3)}`
  // Values that JSON lacks lie where projections keep them.
  const question = random.pick<unknown>(['Publish?', { at: new Date(0), big: 12n }, { $clew: 'mine' }, null])
  const usage = { inputTokens: random.below(1000), outputTokens: random.below(100) }
  const error = { name: 'Error', code: 'E', message: 'went wrong' }
  const [eventType, payload] = random.pick<readonly [string, Record<string, unknown>]>([
    ['execution.step_started', { stepId, attempt, name: stepId, input: randomValue(random) }],
    [
      'execution.step_started',
      { stepId, name: stepId, superstep: random.below(9), index: 1, kind: 'effect' },
    ],
    [
      'execution.step_completed',
      { stepId, attempt, output: randomValue(random), usage, decision: ['a'], cached: true },
    ],
    ['execution.step_completed', { stepId, output: { at: new Date(1) }, durationMs: 1.5, decision: null }],
    [
      'execution.step_completed',
      {
        stepId,
        output: { x: 1 },
        checkpoint: { superstep: random.below(9), operations: [{ op: 'set', channel: 'x', from: stepId }] },
      },
    ],
    // Start and end in one, unless the attempt has begun already.
    [
      'execution.step_completed',
      { stepId, attempt, name: stepId, kind: 'node', superstep: random.below(9), output: 1, durationMs: 2.5 },
    ],
    ['execution.step_completed', { stepId: `${stepId}/now#0`, name: 'now', usage, input: { x: 1 } }],
    ['execution.checkpoint', { superstep: random.below(9), next: ['plan'], baseSeq: 1, state: { x: 2 } }],
    ['execution.step_failed', { stepId, attempt, error }],
    ['execution.step_stopped', { stepId }],
    ['ui.input_requested', { pauseId, stepId, question }],
    ['ui.input_requested', { question }],
    ['ui.input_received', { pauseId, stepId, answer: 'yes' }],
    ['execution.message', { role: 'assistant', content: randomValue(random), usage }],
    // One call reported by a message, its step and the step around it (V7).
    [
      'execution.message',
      { stepId, content: 'x', model: 'm', usage, cost: { amount: 0.1, currency: 'USD' } },
    ],
    ['execution.step_started', { stepId: `${stepId}/call#0`, name: 'call' }],
    ['execution.step_completed', { stepId: `${stepId}/call#0`, usage, cost: 0.000000001 }],
    ['execution.step_completed', { stepId: `${stepId}/call#0`, usage, childRunId: 'child' }],
    ['execution.completed', { usage }],
    ['execution.tool_call', { name: 'search', arguments: randomValue(random) }],
    ['execution.tool_error', { name: 'search', error }],
    ['system.workflow_started', { agent: 'late' }],
    ['system.workflow_paused', {}],
    ['system.workflow_paused', { dueAt: '2030-01-01T00:00:00.000Z' }],
    ['system.stop_requested', { by: 'somebody' }],
    ['system.workflow_resumed', {}],
    ['system.workflow_failed', { error }],
    ['system.workflow_completed', { output: randomValue(random) }],
    ['system.workflow_stopped', {}],
    ['system.workflow_interrupted', {}],
    ['system.workflow_blocked', {}],
    ['system.state_transitioned', { superstep: 1, operations: [{ op: 'append', channel: 'x', items: [1] }] }],
    ['integration.anything', { value: randomValue(random) }],
  ])
  return { eventType, correlationId: runId, payload }
}

export function uuid(random: Random): string {
  const digits = Array.from({ length: 32 }, () => random.below(16).toString(16)).join('')
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-7$3-8$4-$5')
}
