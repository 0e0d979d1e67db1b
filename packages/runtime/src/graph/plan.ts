import { ClewError } from '@clew/ledger'
import { END, type GraphDefinition, type Join, type NodeDefinition, START } from './definition.ts'
import { reachableFrom, successorsOf } from './reach.ts'

/** Ended task of a superstep; START with index 0 stands for the beginning of a run. */
export interface EndedTask {
  readonly node: string
  readonly index: number
  /** The names that its gate or conditional edges chose; null when it has none. */
  readonly decision: readonly string[] | null
  /** Targets of its command, which replace edges and decision. */
  readonly goto: readonly string[] | null
  readonly sends: readonly { readonly node: string; readonly input: unknown }[]
  /** Its command ended the run. */
  readonly ended: boolean
}

/** One run of a node in a superstep: on the state, or, where there is an `input`, on that instead. */
export interface Task {
  readonly node: string
  /** Place in the superstep: nodes in order of declaration, then sends in the order they were made. */
  readonly index: number
  readonly input?: unknown
}

/**
 * Nodes that have arrived at a waiting node: by `target#n` for a join, by the node's name if it is deferred or held back.
 * Plain JSON, part of a checkpoint.
 */
export type Joins = Readonly<Record<string, readonly string[]>>

export interface Plan {
  readonly tasks: readonly Task[]
  readonly joins: Joins
  /** Nothing is left to run. Joins may still wait for what will never come. */
  readonly done: boolean
}

/** The next superstep, from all that ended in the last one, in whatever order they are given. */
export function planNext(definition: GraphDefinition, ended: readonly EndedTask[], joins: Joins): Plan {
  if (ended.some((task) => task.ended)) return { tasks: [], joins: {}, done: true }
  const index = indexOf(definition)
  const only = onlyTarget(definition, index, ended, joins)
  if (only !== undefined)
    return { tasks: only === END ? [] : [{ node: only, index: 0 }], joins: {}, done: only === END }
  const arrivals = new Map<string, Set<string>>()
  const waiting: Record<string, readonly string[]> = {}
  const held = new Set<string>()
  for (const [key, sources] of Object.entries(joins)) {
    if (key.includes('#')) waiting[key] = sources
    else for (const source of sources) arrive(arrivals, key, source)
    held.add(key)
  }
  const sends: { node: string; input: unknown }[] = []
  for (const task of ended.toSorted((a, b) => a.index - b.index)) {
    const { node, goto, decision } = task
    assertTargets(definition, node, [...(goto ?? decision ?? []), ...task.sends.map((each) => each.node)])
    for (const target of goto ?? [...(index.edges.get(node) ?? []), ...(decision ?? [])])
      if (target !== END) arrive(arrivals, target, node)
    if (goto === null)
      for (const { key, sources } of index.joins.get(node) ?? []) {
        const arrived = waiting[key] ?? []
        waiting[key] = sources.filter((source) => source === node || arrived.includes(source))
      }
    for (const each of task.sends) sends.push(each)
  }
  for (const { key, sources, target } of definition.joins) {
    if (waiting[key]?.length !== sources.length) continue
    for (const source of sources) arrive(arrivals, target, source)
    delete waiting[key]
  }

  const ready = definition.nodes.filter(({ name }) => arrivals.has(name))
  const running = chooseRunning(definition, ready, held, sends.length > 0)
  for (const { name } of ready)
    if (!running.has(name)) waiting[name] = inOrder(index, arrivals.get(name) as Set<string>)
  const nodes = ready.filter(({ name }) => running.has(name)).map(({ name }) => name)
  const tasks: Task[] = nodes.map((node, i) => ({ node, index: i }))
  for (const { node, input } of sends) tasks.push({ node, index: tasks.length, input: input ?? null })
  return { tasks, joins: waiting, done: tasks.length === 0 }
}

/** Next node of the most common superstep: one task, one target, no join. */
function onlyTarget(
  definition: GraphDefinition,
  { edges, joins }: PlanIndex,
  ended: readonly EndedTask[],
  waiting: Joins,
): string | undefined {
  const [task] = ended
  if (!task || ended.length > 1 || task.sends.length > 0 || joins.size > 0) return undefined
  const { node, goto } = task
  const chosen = goto ?? task.decision ?? []
  const declared = goto === null ? (edges.get(node) ?? []) : []
  if (chosen.length + declared.length !== 1 || Object.keys(waiting).length > 0) return undefined
  assertTargets(definition, node, chosen)
  return chosen[0] ?? declared[0]
}

/** Reached nodes that run now; the others wait and are added to the joins. */
function chooseRunning(
  definition: GraphDefinition,
  ready: readonly NodeDefinition[],
  held: ReadonlySet<string>,
  hasSends: boolean,
): ReadonlySet<string> {
  const prompt = ready.filter(({ defer }) => !defer)
  const running = new Set(prompt.map(({ name }) => name))
  if (prompt.length === 0 && !hasSends) return chooseDeferred(definition, ready)
  for (const gate of prompt) {
    if (gate.kind !== 'gate' || !running.has(gate.name)) continue
    // Targets of a gate wait one superstep for its word; only one, or a gate in a loop would hold them for ever.
    for (const { from, targets } of definition.branches)
      if (from === gate.name)
        for (const { target } of targets) if (target !== from && !held.has(target)) running.delete(target)
  }
  return running
}

/** A deferred node also waits for another one that leads to it, unless both lead to each other. */
function chooseDeferred(definition: GraphDefinition, ready: readonly NodeDefinition[]): ReadonlySet<string> {
  const names = ready.map(({ name }) => name)
  if (names.length < 2) return new Set(names)
  const successors = successorsOf(definition)
  const reach = new Map(names.map((name) => [name, reachableFrom(successors, name)]))
  const leads = (from: string, to: string): boolean => reach.get(from)?.has(to) === true
  return new Set(names.filter((name) => !names.some((other) => leads(other, name) && !leads(name, other))))
}

/** Refuses to go or send where there is no node, or where this node did not say that it would. */
function assertTargets(definition: GraphDefinition, from: string, targets: readonly string[]): void {
  if (targets.length === 0) return
  const { nodes, allowed } = indexOf(definition)
  for (const target of targets) {
    if (target === END) continue
    const known = allowed.get(from) ?? nodes
    if (known.has(target)) continue
    const names = [...known.keys()].join(', ')
    throw new ClewError(
      'bad_graph',
      nodes.has(target)
        ? `Node "${from}" goes to "${target}", which is not among its targets`
        : `Node "${from}" goes to "${target}", which is no node of this graph`,
      `It can go to: ${names || 'no other node'}, or END.`,
      { node: from, target, known: names },
    )
  }
}

interface PlanIndex {
  readonly nodes: ReadonlyMap<string, number>
  readonly edges: ReadonlyMap<string, readonly string[]>
  readonly joins: ReadonlyMap<string, readonly Join[]>
  /** For nodes that said where their commands go. */
  readonly allowed: ReadonlyMap<string, ReadonlySet<string>>
}

const indexes = new WeakMap<GraphDefinition, PlanIndex>()

function indexOf(definition: GraphDefinition): PlanIndex {
  const known = indexes.get(definition)
  if (known) return known
  const { nodes, edges, joins } = definition
  const successors = successorsOf(definition)
  const declared = nodes.filter(({ targets }) => targets !== null)
  const index: PlanIndex = {
    nodes: new Map(nodes.map(({ name }, i) => [name, i])),
    edges: new Map(
      [...Map.groupBy(edges, ({ from }) => from)].map(([from, list]) => [from, list.map(({ to }) => to)]),
    ),
    joins: Map.groupBy(
      joins.flatMap((join) => join.sources.map((source) => ({ source, ...join }))),
      ({ source }) => source,
    ),
    allowed: new Map(declared.map(({ name }) => [name, successors.get(name) ?? new Set()])),
  }
  indexes.set(definition, index)
  return index
}

function arrive(arrivals: Map<string, Set<string>>, target: string, source: string): void {
  const known = arrivals.get(target)
  if (known) known.add(source)
  else arrivals.set(target, new Set([source]))
}

function inOrder({ nodes }: PlanIndex, names: ReadonlySet<string>): readonly string[] {
  const place = (name: string): number => (name === START ? -1 : (nodes.get(name) ?? nodes.size))
  return [...names].sort((a, b) => place(a) - place(b))
}
