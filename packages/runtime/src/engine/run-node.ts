import { ClewError, deriveId } from '@clew/ledger'
import type { Channels } from '../graph/channel.ts'
import { isCommand, readReturn, type Send } from '../graph/command.ts'
import { type Decision, readDecision } from '../graph/decision.ts'
import type { Branch, NodeDefinition } from '../graph/definition.ts'
import { type MergedState, mergeWrites, prepareWrite, type State } from '../graph/merge-writes.ts'
import { frozenCopy } from '../graph/frozen-copy.ts'
import type { NodeEffectOptions } from '../machine/create-run.ts'
import { sha256 } from '../machine/run-appender.ts'
import type { EffectCall, Run } from '../run/run.ts'

/** Recorded result of a task. */
export interface TaskEnd {
  readonly write: State | null
  readonly decision: readonly string[] | null
  readonly goto: readonly string[] | null
  readonly sends: readonly { readonly node: string; readonly input: unknown }[]
  readonly ends: boolean
}

/** Context in which a node runs. */
export interface NodePlace {
  readonly stepId: string
  readonly state: State
  readonly channels: Channels
  readonly branches: readonly Branch[]
  /** Called with the state after this write alone, if branches needed it: a lone node of a superstep is not merged again. */
  readonly onMerged: (merged: MergedAlone) => void
}

/** A node's write, and the state with nothing but that in it. */
export interface MergedAlone {
  readonly write: State
  readonly merged: MergedState
}

/** Runs `then` at once where there is nothing to wait for: a superstep of plain functions never leaves its turn. */
function after<T, R>(value: T | Promise<T>, then: (value: T) => R | Promise<R>): R | Promise<R> {
  return isPromise(value) ? value.then(then) : then(value)
}

const isPromise = <T>(value: T | Promise<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && typeof (value as Promise<T>).then === 'function'

/** The node's own write, then its decisions on the state that it alone has changed: siblings do not matter to them. */
export function runNode(
  node: NodeDefinition & { kind: 'node' | 'gate' },
  place: NodePlace,
  input: unknown,
  run: Run,
): TaskEnd | Promise<TaskEnd> {
  const { name } = node
  if (node.kind === 'gate')
    return explained(name, () =>
      after(decide(place.branches, place.state, run), (decision) => toEnd(null, decision)),
    )
  const end = (returned: unknown, nextId = (): string => run.uuid()) =>
    endNode(name, place, returned, run, nextId)
  const { safety = 'read' } = node.policy
  if (safety === 'read') return explained(name, () => after(node.fn(input, run), end))
  // Ids drawn in an effect are independent of those that the body draws again on resume.
  const work = ({ idempotencyKey }: EffectCall): TaskEnd | Promise<TaskEnd> => {
    let drawn = 0
    const nextId = (): string => deriveId(sha256, idempotencyKey, drawn++)
    return explained(name, () => after(node.fn(input, run), (returned) => end(returned, nextId)))
  }
  return runAsEffect(name, { safety, worksWith: input }, run, work, end)
}

const FROZEN =
  /^Cannot (?:assign to read only property .* of object '(?!\[object Module)|add property |delete property |define property )/

/** The state is frozen; what the engine says of that names neither the node nor the way out. */
function explained<T>(name: string, work: () => T | Promise<T>): T | Promise<T> {
  const explain = (error: unknown): never => {
    if (!(error instanceof TypeError) || !FROZEN.test(error.message)) throw error
    throw new ClewError(
      'bad_write',
      `Node "${name}" tried to change the state it was given (${error.message})`,
      'Return what it writes: { channel: value }. To work on a copy, take structuredClone(state).',
      { node: name },
      error,
    )
  }
  try {
    const value = work()
    return isPromise(value) ? value.then(undefined, explain) : value
  } catch (error) {
    return explain(error)
  }
}

/** R10: the whole node is one effect, reserved before it runs; after a crash a person may say what it came to. */
async function runAsEffect(
  name: string,
  options: NodeEffectOptions,
  run: Run,
  work: (call: EffectCall) => TaskEnd | Promise<TaskEnd>,
  end: (returned: unknown) => TaskEnd | Promise<TaskEnd>,
): Promise<TaskEnd> {
  const came: unknown = await run.effect(name, null, (_none, call) => work(call), options)
  return isTaskEnd(came) ? came : end(came)
}

const isTaskEnd = (value: unknown): value is TaskEnd =>
  typeof value === 'object' && value !== null && 'ends' in value && 'sends' in value && 'goto' in value

/** Turns the return value of a node or its sub-graph into write, decision and commands. */
export function endNode(
  name: string,
  { stepId, state, channels, branches, onMerged }: NodePlace,
  returned: unknown,
  run: Run,
  nextId: () => string = () => run.uuid(),
): TaskEnd | Promise<TaskEnd> {
  const { write, goto, sends, end } = readReturn(returned)
  if (!isCommand(returned) && typeof returned === 'string') refuseText(name)
  const prepared = write === null ? null : prepareWrite(channels, write, { node: name, nextId })
  const sent = sends.map(toTask)
  if (goto !== null || branches.length === 0)
    return { write: prepared, decision: null, goto, sends: sent, ends: end }
  let changed = state
  if (prepared !== null) {
    const own = { stepId, node: name, write: prepared, isPrepared: true }
    const merged = mergeWrites(channels, state, [own], { nextId })
    onMerged({ write: prepared, merged })
    changed = merged.state
  }
  return after(decide(branches, changed, run), (decision) => ({
    write: prepared,
    decision: decision?.targets ?? null,
    goto,
    sends: decision ? [...sent, ...decision.sends.map(toTask)] : sent,
    ends: end,
  }))
}

const toTask = ({ node, input }: Send): { node: string; input: unknown } => ({
  node,
  input: frozenCopy(input, `send to ${node}`),
})

const toEnd = (write: State | null, decision: Decision | null): TaskEnd => ({
  write,
  decision: decision?.targets ?? null,
  goto: null,
  sends: (decision?.sends ?? []).map(toTask),
  ends: false,
})

export function decide(
  branches: readonly Branch[],
  state: State,
  run: Run,
): Decision | null | Promise<Decision | null> {
  const [first, ...more] = branches
  if (!first) return null
  if (more.length === 0) return after(first.decide(state, run), (returned) => readDecision(first, returned))
  return decideAll(branches, state, run)
}

async function decideAll(branches: readonly Branch[], state: State, run: Run): Promise<Decision> {
  const targets: string[] = []
  const sends: Send[] = []
  for (const branch of branches) {
    const decision = readDecision(branch, await branch.decide(state, run))
    for (const target of decision.targets) if (!targets.includes(target)) targets.push(target)
    sends.push(...decision.sends)
  }
  return { targets, sends }
}

function refuseText(name: string): never {
  throw new ClewError(
    'bad_write',
    `Node "${name}" returned a text where a write was expected`,
    'Return an object of channels and what to write to them; a name to go to is a command({ goto }) or a conditional edge.',
    { node: name },
  )
}
