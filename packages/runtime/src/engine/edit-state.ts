import { ClewError, type Ledger, type StateOperation } from '@clew/ledger'
import { randomUUID } from 'node:crypto'
import type { Channels } from '../graph/channel.ts'
import { type GraphDefinition, START } from '../graph/definition.ts'
import { resolveOperations } from '../graph/digests.ts'
import { mergeWrites, prepareWrite, type StepWrite } from '../graph/merge-writes.ts'
import { freezeOwned, setOwn } from '../graph/frozen-copy.ts'
import { type EndedTask, type Joins, type Plan, planNext, type Task } from '../graph/plan.ts'
import type { Run } from '../run/run.ts'
import { advance, type GraphState } from './graph-state.ts'
import { decide, type TaskEnd } from './run-node.ts'
import type { SuperstepState } from './supersteps.ts'

/** A change of the state that no node makes. */
export interface StateEdit {
  /** Channels are set to these values. */
  readonly state?: Readonly<Record<string, unknown>> | undefined
  /** Merged by the rules of the channels, as a node's write is. */
  readonly update?: Readonly<Record<string, unknown>> | undefined
  /** Continue as if this node had written the edit. */
  readonly asNode?: string | undefined
}

export interface EditedStanding {
  readonly standing: SuperstepState
  readonly operations: readonly StateOperation[]
  /** Choice of the conditional edges of `asNode`. */
  readonly decision: readonly string[] | null
}

export const isEdited = ({ state, update, asNode }: StateEdit): boolean =>
  state !== undefined || update !== undefined || asNode !== undefined

/** The standing one superstep later, with nothing changed but what is said; refuses before anything is written. */
export async function editStanding(
  definition: GraphDefinition,
  at: SuperstepState,
  { state, update, asNode }: StateEdit,
  { ledger, completed = [] }: EditPlace,
): Promise<EditedStanding> {
  const { channels } = definition
  if (asNode !== undefined) assertNode(definition, asNode)
  const by = asNode ?? 'update'
  // In place of a node that is ready, the update ends its superstep together with what siblings have completed.
  const own = at.tasks.find(({ node }) => node === asNode)
  const beside = own ? completed.filter(({ task }) => task.node !== asNode) : []
  const set = setChannels(channels, at.graph, state, ledger)
  const merged = mergeUpdate(channels, set.graph, update, { by, index: own?.index ?? 0, beside }, ledger)
  const operations = [...set.operations, ...merged.operations]
  const moved = asNode === undefined ? null : await planAfter(definition, at, asNode, merged.graph, beside)
  return {
    standing: {
      ...at,
      superstep: at.superstep + 1,
      graph: merged.graph,
      ...(moved && { tasks: moved.tasks, joins: moved.joins, passed: [] }),
      after: [],
    },
    operations,
    decision: moved?.decision ?? null,
  }
}

interface EditPlace {
  readonly ledger: Ledger
  /** Tasks of the superstep under way that have ended. */
  readonly completed?: readonly CompletedTask[] | undefined
}

export interface CompletedTask {
  readonly task: Task
  readonly end: TaskEnd
}

interface Changed {
  readonly graph: GraphState
  readonly operations: readonly StateOperation[]
}

function setChannels(
  channels: Channels,
  before: GraphState,
  state: StateEdit['state'],
  ledger: Ledger,
): Changed {
  if (state === undefined) return { graph: before, operations: [] }
  const next: Record<string, unknown> = { ...before.state }
  const operations: StateOperation[] = []
  for (const [channel, given] of Object.entries(
    prepareWrite(channels, state, { node: 'state', isInput: true, nextId: randomUUID }),
  )) {
    const isList = channels[channel]?.kind === 'append' || channels[channel]?.kind === 'messages'
    const value = isList && !Array.isArray(given) ? freezeOwned([given]) : given
    setOwn(next, channel, value)
    operations.push({ op: 'set', channel, value })
  }
  return {
    graph: advance(channels, before, { state: Object.freeze(next), operations }, [], ledger),
    operations,
  }
}

function mergeUpdate(
  channels: Channels,
  before: GraphState,
  update: StateEdit['update'],
  {
    by,
    index,
    beside,
  }: { readonly by: string; readonly index: number; readonly beside: readonly CompletedTask[] },
  ledger: Ledger,
): Changed {
  if (update === undefined && beside.length === 0) return { graph: before, operations: [] }
  const write = prepareWrite(channels, update ?? {}, { node: 'update', isInput: true, nextId: randomUUID })
  const writes: StepWrite[] = [
    { index, stepId: by, node: by, write },
    ...beside.map(({ task, end }) => ({
      index: task.index,
      stepId: `${task.node} ${task.index}`,
      node: task.node,
      write: end.write ?? {},
    })),
  ].sort((a, b) => a.index - b.index)
  const merged = mergeWrites(channels, before.state, writes, { nextId: randomUUID })
  const operations = resolveOperations(merged.operations, writes)
  return { graph: advance(channels, before, { state: merged.state, operations }, [], ledger), operations }
}

function assertNode({ nodes }: GraphDefinition, name: string): void {
  if (name === START || nodes.some((node) => node.name === name)) return
  const known = nodes.map((node) => node.name).join(', ')
  throw new ClewError(
    'bad_option',
    `asNode names "${name}", which is no node of this graph`,
    `Its nodes are: ${known}. Nothing was changed.`,
    { node: name, known },
  )
}

/** As if the node had ended now: tasks that were ready beside it stay, and what follows it comes in. */
async function planAfter(
  definition: GraphDefinition,
  at: SuperstepState,
  asNode: string,
  { state }: GraphState,
  completed: readonly CompletedTask[],
): Promise<{ tasks: readonly Task[]; joins: Joins; decision: readonly string[] | null }> {
  const branches = definition.branches.filter(({ from }) => from === asNode)
  const decided = await decide(branches, state, idleRun())
  const decision = decided?.targets ?? null
  const own = { node: asNode, index: 0, decision, goto: null, sends: decided?.sends ?? [], ended: false }
  const ended: EndedTask[] = completed.map(({ task, end }) => ({ ...task, ...end, ended: end.ends }))
  const isReady = at.tasks.some(({ node }) => node === asNode)
  const done = new Set(completed.map(({ task }) => task.index))
  const left = isReady ? at.tasks.filter(({ node, index }) => node !== asNode && !done.has(index)) : []
  const plan = planNext(definition, [own, ...ended], at.joins)
  return { ...joinPlans(definition, left, plan), decision }
}

function joinPlans(
  definition: GraphDefinition,
  beside: readonly Task[],
  plan: Plan,
): { tasks: readonly Task[]; joins: Joins } {
  if (beside.length === 0) return plan
  // A deferred node waits for what is still to run beside the one that has ended.
  const deferred = new Set(definition.nodes.filter(({ defer }) => defer).map(({ name }) => name))
  const held = plan.tasks.filter(({ node, input }) => input === undefined && deferred.has(node))
  const all = [...beside, ...plan.tasks.filter((task) => !held.includes(task))]
  const plain = new Set(all.filter(({ input }) => input === undefined).map(({ node }) => node))
  const tasks: Omit<Task, 'index'>[] = [
    ...definition.nodes.filter(({ name }) => plain.has(name)).map(({ name }) => ({ node: name })),
    ...all.filter(({ input }) => input !== undefined),
  ]
  const joins = { ...plan.joins, ...Object.fromEntries(held.map(({ node }) => [node, [node]])) }
  return { tasks: tasks.map((task, index) => ({ ...task, index })), joins }
}

/** For conditional edges that are asked outside a run: they may look at the time, but not call anything. */
export function idleRun(): Run {
  const refuse = (): never => {
    throw new ClewError(
      'bad_option',
      'A conditional edge made a call while the state was updated from outside',
      'Decide from the state alone, or leave asNode out.',
    )
  }
  return {
    runId: '',
    threadId: null,
    signal: new AbortController().signal,
    step: refuse,
    effect: refuse,
    interrupt: refuse,
    sleep: refuse,
    receive: refuse,
    select: refuse,
    patched: refuse,
    child: refuse,
    get memory() {
      return refuse()
    },
    now: Date.now,
    random: Math.random,
    uuid: randomUUID,
    say: refuse,
    handoff: refuse,
    decide: refuse,
    output: refuse,
    tag: refuse,
    record: refuse,
    emit: () => {},
    token: () => {},
  }
}
