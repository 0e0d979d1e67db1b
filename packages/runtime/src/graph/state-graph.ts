import { checkPolicy } from '../options/check-options.ts'
import { createOptionCheck } from '../options/known-options.ts'
import { type CompiledGraph, compileGraph, type CompileOptions } from '../engine/compiled-graph.ts'
import type { Run } from '../run/run.ts'
import type { Channels, StateOf } from './channel.ts'
import {
  type Branch,
  type Edge,
  type End,
  type GraphDefinition,
  type Join,
  type NodeDefinition,
  type NodeFunction,
  type NodeOptions,
  type PathFunction,
  START,
  type Start,
  type SubGraph,
} from './definition.ts'
import type {
  ListPath,
  MapPath,
  NodeInputs,
  NodeResult,
  NoNodes,
  OnlyChannels,
  StateNode,
} from './graph-types.ts'
import { assertGraph, assertNodeName, assertTargetsGiven } from './validate.ts'

type AnyFunction = (input: never, run: Run) => unknown
type Targets = readonly string[] | Readonly<Record<string, string>>

const checkNodeOptions = createOptionCheck<NodeOptions>({
  retry: true,
  cache: true,
  timeoutMs: true,
  safety: true,
  defer: true,
  targets: true,
})

/**
 * A graph in the making: nodes that read a state and write to its channels, and the ways between them. Each call adds to
 * this very graph and gives it back, with the type that knows what was added.
 */
export class StateGraph<C extends Channels, Nodes extends NodeInputs = NoNodes> {
  readonly #channels: C
  readonly #nodes = new Map<string, NodeDefinition>()
  readonly #edges: Edge[] = []
  readonly #joins: Join[] = []
  readonly #branches: Branch[] = []

  constructor(channels: C) {
    this.#channels = Object.freeze({ ...channels })
  }

  /**
   * A function as a node; one that is sent to annotates its first parameter with the input that it takes. Or a compiled
   * graph: it gets the channels that it knows, and writes them back.
   */
  addNode<const Name extends string, Result extends NodeResult<C>, Input = StateOf<C>>(
    name: Name & OnlyChannels<C, Result>,
    body: SubGraph | ((state: Input, run: Run) => Result | Promise<Result>),
    options: NodeOptions = {},
  ): StateGraph<C, Nodes & Readonly<Record<Name, Input>>> {
    const { defer = false, targets, ...policy } = options
    const fields = { name, defer, targets: targets ? [...targets] : null, policy }
    this.#add(
      typeof body === 'function'
        ? { kind: 'node', fn: body as NodeFunction, ...fields }
        : { kind: 'graph', graph: body, ...fields },
    )
    return this as unknown as StateGraph<C, Nodes & Readonly<Record<Name, Input>>>
  }

  /** A node that only decides where to go on; what it chose is recorded as names. */
  addGate<
    const Name extends string,
    const Map extends Readonly<Record<string, (keyof Nodes & string) | End>>,
  >(
    name: Name,
    fn: MapPath<C, Nodes, NoInfer<Map>>,
    targets: Map,
    options?: NodeOptions,
  ): StateGraph<C, Nodes & Readonly<Record<Name, StateOf<C>>>>
  addGate<const Name extends string, const Target extends (keyof Nodes & string) | End>(
    name: Name,
    fn: ListPath<C, Nodes, NoInfer<Target>>,
    targets: readonly Target[],
    options?: NodeOptions,
  ): StateGraph<C, Nodes & Readonly<Record<Name, StateOf<C>>>>
  addGate(name: string, path: AnyFunction, targets: Targets, options: NodeOptions = {}): this {
    const fn = path as PathFunction
    const { defer = false, targets: _none, ...policy } = options
    this.#add({ kind: 'gate', name, fn, defer, targets: null, policy })
    return this.#decide(name, fn, targets)
  }

  // The compiler explains the last overload only, and an alias would hide the names in it.
  /** From one node to the next; from a list of nodes to one that waits for all of them. */
  addEdge(from: readonly (keyof Nodes & string)[], to: StateNode<C, Nodes>): this
  addEdge(
    from: (keyof Nodes & string) | Start,
    to: { [N in keyof Nodes & string]: StateOf<C> extends Nodes[N] ? N : never }[keyof Nodes & string] | End,
  ): this
  addEdge(from: string | readonly string[], to: string): this {
    const sources = typeof from === 'string' ? [from] : [...new Set(from)]
    if (sources.length === 1) {
      const edge = { from: sources[0] as string, to }
      if (!this.#edges.some((each) => each.from === edge.from && each.to === to)) this.#edges.push(edge)
    } else {
      const count = this.#joins.filter(({ target }) => target === to).length
      this.#joins.push({ key: `${to}#${count}`, sources, target: to })
    }
    return this
  }

  /** Lets a function of the state choose where a node, or START, leads to. */
  addConditionalEdges<const Map extends Readonly<Record<string, (keyof Nodes & string) | End>>>(
    from: (keyof Nodes & string) | Start,
    path: MapPath<C, Nodes, NoInfer<Map>>,
    targets: Map,
  ): this
  addConditionalEdges<const Target extends (keyof Nodes & string) | End>(
    from: (keyof Nodes & string) | Start,
    path: ListPath<C, Nodes, NoInfer<Target>>,
    targets: readonly Target[],
  ): this
  addConditionalEdges(from: string, path: AnyFunction, targets: Targets): this {
    return this.#decide(from, path as PathFunction, targets)
  }

  setEntryPoint(name: StateNode<C, Nodes>): this {
    return this.addEdge(START, name)
  }

  /** Everything that runs this graph, checked; later changes of the builder do not reach it. */
  toDefinition(): GraphDefinition {
    const nodes = [...this.#nodes.values()]
    const parts = { nodes, edges: [...this.#edges], joins: [...this.#joins], branches: [...this.#branches] }
    assertGraph(parts)
    const first = new Set([
      ...parts.edges.filter(({ from }) => from === START).map(({ to }) => to),
      ...parts.branches
        .filter(({ from }) => from === START)
        .flatMap(({ targets }) => targets.map((t) => t.target)),
    ])
    const entry = nodes.map(({ name }) => name).filter((name) => first.has(name))
    return Object.freeze({ channels: this.#channels, ...parts, entry })
  }

  /** The graph as it stands now, ready to run. */
  compile(options?: CompileOptions): CompiledGraph<C> {
    return compileGraph<C>(this.toDefinition(), options)
  }

  #add(node: NodeDefinition): void {
    assertNodeName(node.name, this.#nodes)
    checkNodeOptions(node.policy, `Node "${node.name}"`)
    checkPolicy(node.policy, `node "${node.name}"`)
    this.#nodes.set(node.name, Object.freeze(node))
  }

  #decide(from: string, decide: PathFunction, given: Targets): this {
    const isList = (targets: Targets): targets is readonly string[] => Array.isArray(targets)
    const targets = isList(given)
      ? [...new Set(given)].map((target) => ({ label: null, target }))
      : Object.entries(given).map(([label, target]) => ({ label, target }))
    assertTargetsGiven(from, targets)
    this.#branches.push({ from, targets, decide })
    return this
  }
}
