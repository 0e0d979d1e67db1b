import { ClewError, formatStepId, type Ledger, type PayloadOf, type StateOperation } from '@clew/ledger'
import type { PruneStates } from '../checkpointer/retention.ts'
import { type Branch, END, type GraphDefinition, type NodeDefinition, START } from '../graph/definition.ts'
import { mergeWrites, type State, type StepWrite } from '../graph/merge-writes.ts'
import { setOwn } from '../graph/frozen-copy.ts'
import { type EndedTask, type Joins, type Plan, planNext, type Task } from '../graph/plan.ts'
import { sha256 } from '../machine/run-appender.ts'
import type { Caller } from '../machine/machine-types.ts'
import { toRetryPolicy } from '../machine/retry.ts'
import type { CallSpec, EndFields, Work } from '../machine/step.ts'
import type { RunListener } from '../run/result.ts'
import { StepError } from '../run/run.ts'
import { messagesIn } from '../stream/messages-in.ts'
import { onTapeOf } from '../tape/use-tape.ts'
import { advance, afterWhole, type GraphState, isWholeDue } from './graph-state.ts'
import { endNode, type MergedAlone, type NodePlace, runNode, type TaskEnd } from './run-node.ts'
import { inputOfSubGraph, type RunnableGraph, writeOfSubGraph } from './sub-runs.ts'

/** State of a graph between two supersteps. */
export interface SuperstepState {
  readonly superstep: number
  readonly graph: GraphState
  readonly tasks: readonly Task[]
  readonly joins: Joins
  /** Seq of the event from which the state is folded. */
  readonly baseSeq: number
  readonly depth: number
  /** Nodes whose `interruptBefore` has been settled by an edit of the state. */
  readonly passed: readonly string[]
  /** The state as the record has it, where a run is taken up. */
  readonly folded?: State | undefined
  /** Nodes of the superstep that has ended here which `interruptAfter` names: it is asked before anything else. */
  readonly after: readonly string[]
}

export interface SuperstepOptions {
  readonly definition: GraphDefinition
  readonly machine: Caller
  readonly ledger: Ledger | undefined
  readonly interruptBefore: ReadonlySet<string>
  readonly interruptAfter: ReadonlySet<string>
  readonly recursionLimit: number
  readonly listener: RunListener
  readonly prune: PruneStates | undefined
  /** Ends of tasks of the first superstep that the record has already, by step id. */
  readonly recorded: ReadonlyMap<string, TaskEnd>
  /** After each superstep, with the seq of the event that carries its checkpoint; what it gives back is waited for. */
  readonly onStanding: (standing: SuperstepState, seq: number | undefined) => Promise<unknown> | undefined
}

export const stepIdOfTask = (task: Task, superstep: number): string =>
  formatStepId({ parentStepId: null, name: task.node, key: keyOf(task, superstep), ordinal: 0 })
const keyOf = ({ index, input }: Task, superstep: number): string =>
  input === undefined ? `s${superstep}` : `s${superstep}.i${index}`

/** Superstep after superstep until nothing is ready: what a graph's run does as the code of the step machine. */
export async function runSupersteps(first: SuperstepState, options: SuperstepOptions): Promise<State> {
  const { definition, machine, interruptBefore, recursionLimit } = options
  const branches = Map.groupBy(definition.branches, ({ from }) => from)
  const nodes = new Map(definition.nodes.map((node) => [node.name, node]))
  const parts: SuperstepParts = { ...options, branches, nodes }
  let at = first
  let recorded = options.recorded
  while (at.tasks.length > 0) {
    const superstep = at.superstep + 1
    if (superstep > recursionLimit) throw tooMany(recursionLimit, at)
    if (at.after.length > 0) await ask(machine, 'after', at.after, at.superstep)
    if (interruptBefore.size > 0) {
      const before = at.tasks.map(({ node }) => node)
      const asked = before.filter((node) => interruptBefore.has(node) && !at.passed.includes(node))
      if (asked.length > 0) await ask(machine, 'before', asked, superstep)
    }
    const next = await runSuperstep(at, superstep, parts, recorded)
    recorded = NONE
    at = next
  }
  return at.graph.state
}

const NONE: ReadonlyMap<string, TaskEnd> = new Map()

async function ask(
  machine: Caller,
  when: 'before' | 'after',
  nodes: readonly string[],
  superstep: number,
): Promise<void> {
  const question = {
    question: `Go on ${when === 'before' ? 'with' : 'after'} ${nodes.join(', ')}?`,
    interrupt: when,
    nodes,
  }
  await machine.call(machine.root, {
    name: `interrupt ${when}`,
    key: `s${superstep}`,
    input: question,
    isInputKept: true,
    work: { kind: 'interrupt', question },
    startFields: { superstep },
  })
}

interface SuperstepParts extends SuperstepOptions {
  readonly branches: ReadonlyMap<string, readonly Branch[]>
  readonly nodes: ReadonlyMap<string, NodeDefinition>
}

async function runSuperstep(
  at: SuperstepState,
  superstep: number,
  parts: SuperstepParts,
  recorded: SuperstepOptions['recorded'],
): Promise<SuperstepState> {
  const { definition, machine, listener } = parts
  const { tasks } = at
  const stepIds = tasks.map((task) => stepIdOfTask(task, superstep))
  const ends: (TaskEnd | undefined)[] = stepIds.map((stepId) => recorded.get(stepId))
  let remaining = ends.filter((end) => end === undefined).length
  let next: SuperstepState | undefined

  /** Called when a task has ended, before the end is recorded: the last end of a superstep carries the checkpoint. */
  function conclude(
    index: number,
    end: TaskEnd,
    alone: MergedAlone | undefined,
  ): { output: unknown; fields: EndFields } {
    // Refused now, since nothing of it can be taken back once it is merged with what others wrote.
    if (tasks.length > 1) parts.ledger?.digest(end.write)
    ends[index] = end
    remaining--
    if (listener.update) tellUpdate(index, end)
    const { write, decision, goto, sends, ends: stops } = end
    const chosen = goto ?? decision
    const closed =
      remaining === 0 ? close(at, superstep, stepIds, ends as TaskEnd[], alone, parts) : undefined
    if (closed) next = closed.standing
    const fields: EndFields = {
      decision: chosen ? single(chosen) : undefined,
      goto: goto ? true : undefined,
      sends: sends.length > 0 ? sends : undefined,
      ends: stops ? true : undefined,
      checkpoint: closed?.checkpoint,
    }
    return { output: write, fields }
  }

  function tellUpdate(index: number, { write }: TaskEnd): void {
    const { node } = tasks[index] as Task
    if (parts.nodes.get(node)?.kind === 'gate' || node === START) return
    const messages = messagesIn(definition.channels, write)
    listener.update?.({ stepId: stepIds[index] as string, node, superstep, write, messages })
  }

  const calls = tasks.map((task, index) =>
    machine.call(
      machine.root,
      specOf(task, stepIds[index] as string, at, superstep, parts, (end, alone) =>
        conclude(index, end, alone),
      ),
    ),
  )
  const settled = tasks.length === 1 ? [await calls[0]] : await allEnded(calls)
  // Set by the last of the calls, which the compiler does not see.
  const closed: SuperstepState | undefined = next
  if (!closed) throw new Error(`superstep ${superstep} of ${definition.entry.join()} came to no end`)
  const seq = settled.findLast((end) => end?.seq !== undefined)?.seq
  const standing =
    seq !== undefined && closed.graph.since.supersteps === 0 ? { ...closed, baseSeq: seq } : closed
  const told = parts.onStanding(standing, seq)
  if (told) await told
  listener.values?.(standing.graph.state, superstep)
  return standing
}

/** Siblings of a failed node come to their own end first: what they wrote was paid for. */
async function allEnded<T>(calls: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(calls)
  const failed = settled.find((each) => each.status === 'rejected')
  if (failed) throw failed.reason
  return settled.map((each) => (each as PromiseFulfilledResult<T>).value)
}

const single = (names: readonly string[]): string | readonly string[] =>
  names.length === 1 ? (names[0] as string) : names

function close(
  at: SuperstepState,
  superstep: number,
  stepIds: readonly string[],
  ends: readonly TaskEnd[],
  alone: MergedAlone | undefined,
  { definition, ledger, interruptAfter }: SuperstepParts,
): { standing: SuperstepState; checkpoint: CheckpointFields } {
  const { channels } = definition
  const writes: StepWrite[] = []
  const ended: EndedTask[] = []
  for (const [index, end] of ends.entries()) {
    const { node } = at.tasks[index] as Task
    if (end.write !== null) writes.push({ stepId: stepIds[index] as string, node, write: end.write })
    ended.push({
      node,
      index,
      decision: end.decision,
      goto: end.goto,
      sends: end.sends,
      ended: end.ends,
    })
  }
  // A timed-out attempt may have reported its write after the one that counts.
  const merged =
    ends.length === 1 && alone && alone.write === ends[0]?.write
      ? alone.merged
      : mergeWrites(channels, at.graph.state, writes, { nextId: noId })
  const plan = planNext(definition, ended, at.joins)
  const graph = advance(channels, at.graph, merged, writes, ledger)
  const isWhole = ledger !== undefined && isWholeDue(graph)
  const standing = {
    superstep,
    graph: isWhole ? afterWhole(graph) : graph,
    tasks: plan.tasks,
    joins: plan.joins,
    baseSeq: at.baseSeq,
    depth: isWhole ? 0 : at.depth,
    passed: [],
    after:
      plan.tasks.length === 0 || interruptAfter.size === 0
        ? []
        : namesOf(at.tasks).filter((node) => interruptAfter.has(node)),
  }
  const { operations } = merged
  const own = ends.length === 1 ? ownWrites(operations) : undefined
  const checkpoint = checkpointFields(standing, plan, own ? [] : operations, isWhole)
  if (own) checkpoint.writes = own
  return { standing, checkpoint }
}

/** Operation by channel for the only node of a superstep; undefined if its write alone does not determine the state. */
function ownWrites(operations: readonly StateOperation[]): CheckpointFields['writes'] {
  if (operations.length === 0) return undefined
  const writes: Record<string, 'set' | 'append' | 'patch'> = {}
  for (const operation of operations) {
    const { op, channel } = operation
    if (op === 'remove' || operation.from === undefined || Object.hasOwn(writes, channel)) return undefined
    if (op === 'patch' && operation.remove !== undefined) return undefined
    setOwn(writes, channel, op)
  }
  return writes
}

/** Messages got their ids when the node ended. */
function noId(): string {
  throw new Error('a write was merged that had not been prepared')
}

/** Fields of a recorded checkpoint. */
type CheckpointFields = NonNullable<PayloadOf<'execution.step_completed'>['checkpoint']>

export function checkpointFields(
  { superstep, graph, baseSeq, depth, passed, after }: SuperstepState,
  { tasks, joins }: Pick<Plan, 'tasks' | 'joins'>,
  operations: readonly StateOperation[],
  isWhole: boolean,
): CheckpointFields {
  const fields: CheckpointFields = { superstep, next: namesOf(tasks) }
  if (operations.length > 0) fields.operations = operations
  if (tasks.some(({ input }) => input !== undefined))
    fields.tasks = tasks.map(({ node, input }) => (input === undefined ? { node } : { node, input }))
  if (Object.keys(joins).length > 0) fields.joins = joins
  if (isWhole) {
    fields.state = graph.state
    fields.versions = graph.versions
  } else if (baseSeq > 1) fields.baseSeq = baseSeq
  if (depth > 0) fields.depth = depth
  if (passed.length > 0) fields.passed = passed
  if (after.length > 0) fields.after = after
  return fields
}

/** The nodes of tasks, each once. */
const namesOf = (tasks: readonly Task[]): string[] =>
  tasks.length === 1 ? [(tasks[0] as Task).node] : [...new Set(tasks.map(({ node }) => node))]

/** Stands for what a task is given: the state, by the digests of its channels, and its own input. */
export const digestOfTask = ({ node, input }: Task, { digests = {} }: GraphState, ledger: Ledger): string =>
  // Half of the digest is enough to distinguish inputs, and it is written with every superstep.
  sha256(
    `${node}\n${Object.values(digests).join('\n')}\n${input === undefined ? '' : ledger.digest(input)}`,
  ).slice(0, 32)

function specOf(
  task: Task,
  stepId: string,
  at: SuperstepState,
  superstep: number,
  parts: SuperstepParts,
  conclude: (end: TaskEnd, alone: MergedAlone | undefined) => { output: unknown; fields: EndFields },
): CallSpec {
  const { definition, nodes, branches, ledger, machine } = parts
  const { channels } = definition
  const { state, versions } = at.graph
  let alone: MergedAlone | undefined
  const place: NodePlace = {
    stepId,
    state,
    channels,
    branches: branches.get(task.node) ?? [],
    onMerged: (merged) => void (alone = merged),
  }
  const node: NodeDefinition =
    nodes.get(task.node) ??
    ({ kind: 'gate', name: START, fn: () => END, defer: false, targets: null, policy: {} } as const)
  const input = task.input === undefined ? state : task.input
  const { policy } = node
  const work: Work =
    node.kind === 'graph'
      ? subGraphWork(node.graph as RunnableGraph, input as State)
      : {
          kind: node.kind,
          fn: (given, run) => runNode(node, place, given, run),
          conclude: (end) => conclude(end as TaskEnd, alone),
        }

  function subGraphWork(graph: RunnableGraph, given: State): Work {
    const inner = inputOfSubGraph(graph, given)
    const program = onTapeOf(machine.root, graph.program)
    const { prune = parts.prune } = program
    return {
      kind: 'child',
      open: (link) =>
        machine.openChild(program.prune === prune ? program : { ...program, prune }, {
          ...link,
          input: inner,
        }),
      conclude: (output) => {
        const write = writeOfSubGraph(graph, given, output as State, channels)
        const end = endNode(task.node, place, write, machine.run)
        if (end instanceof Promise) throw slowDecision(task.node)
        return conclude(end, alone)
      },
    }
  }

  return {
    name: task.node,
    key: keyOf(task, superstep),
    stepId,
    input,
    isInputKept: false,
    digest: ledger && (() => digestOfTask(task, at.graph, ledger)),
    recordedInput: at.folded && (() => (task.input === undefined ? at.folded : task.input)),
    work,
    retry: toRetryPolicy(policy.retry),
    timeoutMs: policy.timeoutMs,
    cacheTtlMs:
      policy.cache === undefined || policy.cache === false
        ? undefined
        : ((policy.cache === true ? undefined : policy.cache.ttlMs) ?? Number.POSITIVE_INFINITY),
    startFields: { superstep, index: task.index, inputVersions: versions },
  }
}

const slowDecision = (node: string): ClewError =>
  new ClewError(
    'bad_graph',
    `The conditional edges of the sub-graph "${node}" decide asynchronously`,
    'Put a gate after it, or decide from the state without awaiting.',
    { node },
  )

function tooMany(limit: number, { tasks }: SuperstepState): StepError {
  const nodes = tasks.map(({ node }) => node).join(', ')
  return new StepError(
    {
      name: 'RecursionError',
      code: 'recursion_limit',
      message: `The graph went through ${limit} supersteps without an end; next would be ${nodes}. Raise recursionLimit if that is meant.`,
    },
    null,
  )
}
