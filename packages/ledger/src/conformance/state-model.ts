import type { StateOperation } from '../catalogue/catalogue.ts'
import type { ClewEvent, EventInput } from '../event/envelope.ts'
import { applyOperation, foldState, type RunState } from '../fold/state.ts'
import type { Ledger } from '../ledger.ts'
import { assertEqual } from './assert.ts'
import type { Random } from './random.ts'
import { forked, readAll, started, upTo } from './world.ts'

/** Expected state of a run, computed without any fold. */
export interface Expected {
  readonly runId: string
  readonly states: {
    seq: number
    superstep: number
    state: RunState['state']
    versions: RunState['versions']
  }[]
  /** The state that its first checkpoint goes on from. */
  readonly base: RunState | null
  seq: number
  baseSeq: number
}

const CHANNELS = ['list', 'map', 'last', '__proto__', '7']

function randomOperation(random: Random): StateOperation {
  const channel = random.pick(CHANNELS)
  const value = random.pick<unknown>([1, 'text', null, ['a', 'b'], { k: 1 }, new Date(5), random.text(700)])
  return random.pick<StateOperation>([
    { op: 'set', channel, value },
    { op: 'append', channel, items: [value, random.below(9)] },
    { op: 'append', channel, items: [value] },
    { op: 'patch', channel, set: { [random.pick(['a', 'b'])]: value }, remove: ['a'] },
    { op: 'patch', channel, remove: ['b'] },
    { op: 'remove', channel },
  ])
}

/** The same operation, with its value in the output of a step. */
function viaStep(operation: StateOperation, stepId: string): { reference: StateOperation; written: unknown } {
  const { channel } = operation
  if (operation.op === 'set')
    return { reference: { op: 'set', channel, from: stepId }, written: operation.value }
  if (operation.op === 'append')
    return { reference: { op: 'append', channel, from: stepId }, written: operation.items }
  if (operation.op === 'patch' && operation.set)
    return {
      reference: { op: 'patch', channel, from: stepId, remove: operation.remove },
      written: operation.set,
    }
  return { reference: operation, written: undefined }
}

function advance(run: Expected, seq: number, superstep: number, operations: readonly StateOperation[]): void {
  const before = run.states.at(-1) ?? run.base ?? { state: {}, versions: {} }
  let { state } = before
  const versions = new Map(Object.entries(before.versions))
  for (const operation of operations) {
    state = applyOperation(state, operation)
    versions.set(operation.channel, (versions.get(operation.channel) ?? 0) + 1)
  }
  run.states.push({ seq, superstep, state, versions: Object.fromEntries(versions) })
}

/** One superstep as a runtime records it: steps side by side, the last of which ends it. */
export async function runSuperstep(ledger: Ledger, random: Random, run: Expected): Promise<void> {
  const number = (run.states.at(-1)?.superstep ?? -1) + 1
  const steps = upTo(1 + random.below(3)).map((n) => `node${n}@s${number}`)
  const outputs = new Map(steps.map((stepId) => [stepId, new Map<string, unknown>()]))
  const operations: StateOperation[] = []
  const references: StateOperation[] = []
  for (let left = random.below(4); left > 0; left--) {
    const operation = randomOperation(random)
    const stepId = random.pick(steps)
    const output = outputs.get(stepId) as Map<string, unknown>
    const { reference, written } = viaStep(operation, stepId)
    const isFree = written !== undefined && !output.has(operation.channel) && random.below(3) > 0
    if (isFree) output.set(operation.channel, written)
    operations.push(operation)
    references.push(isFree ? reference : operation)
  }
  const seq = run.seq + 2 * steps.length
  advance(run, seq, number, operations)
  const now = run.states.at(-1) as Expected['states'][number]
  const isWhole = random.below(6) === 0
  if (isWhole) run.baseSeq = seq
  const checkpoint = {
    superstep: number,
    next: [`node${number}`],
    operations: references,
    baseSeq: run.baseSeq,
    ...(isWhole && { state: now.state, versions: now.versions }),
  }
  const event = (eventType: string, payload: EventInput['payload']): EventInput => ({
    eventType,
    correlationId: run.runId,
    payload,
  })
  const starts = steps.map((stepId) =>
    event('execution.step_started', { stepId, name: stepId, superstep: number }),
  )
  const ends = steps.map((stepId, i) =>
    event('execution.step_completed', {
      stepId,
      output: Object.fromEntries(outputs.get(stepId) as Map<string, unknown>),
      ...(i === steps.length - 1 && { checkpoint }),
    }),
  )
  await ledger.append([...starts, ...ends])
  run.seq = seq
}

/** A run that begins empty, a turn that goes on from another run, or a fork. */
export async function beginExpected(
  ledger: Ledger,
  random: Random,
  runs: readonly Expected[],
  runId: string,
  threadId?: string,
): Promise<Expected> {
  const source = runs.length === 0 || random.below(4) === 0 ? undefined : random.pick(runs)
  const mark = source && random.pick(source.states)
  if (source && mark && random.below(2) === 0) {
    const states = source.states.filter(({ seq }) => seq <= mark.seq)
    const baseSeq = await baseOf(ledger, source.runId, mark.seq)
    const checkpoint = { id: 'c', superstep: mark.superstep, seq: mark.seq, baseSeq, createdAt: 'then' }
    const event = forked(runId, source.runId, mark.seq)
    await ledger.record({
      ...event,
      payload: { ...event.payload, ...(random.below(2) === 0 && { checkpoint }) },
    })
    return { runId, states, base: source.base, seq: mark.seq + 1, baseSeq }
  }
  const operation = randomOperation(random)
  const base = source && mark ? await ledger.getStateAt(source.runId, mark.seq) : null
  const run: Expected = { runId, states: [], base, seq: 2, baseSeq: 2 }
  advance(run, 2, 0, [operation])
  await ledger.append([
    started(runId, threadId === undefined ? {} : { threadId }),
    {
      eventType: 'execution.checkpoint',
      correlationId: runId,
      payload: {
        superstep: 0,
        next: ['first'],
        operations: [operation],
        baseSeq: 2,
        ...(source && mark && { from: { runId: source.runId, seq: mark.seq } }),
      },
    },
  ])
  return run
}

async function baseOf(ledger: Ledger, runId: string, seq: number): Promise<number> {
  const [event] = await readAll(ledger, runId, { afterSeq: seq - 1, limit: 1 })
  const payload = (event as ClewEvent).payload
  return ((payload['checkpoint'] ?? payload) as { baseSeq: number }).baseSeq
}

export async function checkStates(ledger: Ledger, run: Expected): Promise<void> {
  const events = await readAll(ledger, run.runId)
  for (const { seq, superstep: number, state, versions } of run.states) {
    const what = `${run.runId} at superstep ${number}`
    const found = await ledger.getState(run.runId, { superstep: number })
    assertEqual(found?.state, state, `state of ${what}`)
    assertEqual(sorted(found?.versions), sorted(versions), `versions of ${what}`)
    assertEqual(found?.superstep, number, `superstep of ${what}`)
    assertEqual(foldState(events, number, run.base), found, `fold of all events of ${what}`)
    assertEqual(await ledger.getStateAt(run.runId, seq), found, `state at event ${seq} of ${what}`)
  }
  const last = run.states.at(-1)
  assertEqual((await ledger.getState(run.runId))?.state, last?.state, `the latest of ${run.runId}`)
  const listed: unknown[] = []
  for await (const { seq, superstep: number } of ledger.listCheckpoints(run.runId)) listed.push([seq, number])
  assertEqual(
    listed,
    run.states.map(({ seq, superstep: number }) => [seq, number]),
    `checkpoints of ${run.runId}`,
  )
}

const sorted = (versions: RunState['versions'] = {}): unknown =>
  Object.entries(versions).toSorted(([a], [b]) => (a < b ? -1 : 1))
