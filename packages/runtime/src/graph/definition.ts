import type { Safety } from '@clew/ledger'
import type { CachePolicy, RetryPolicy, Run } from '../run/run.ts'
import type { Channels } from './channel.ts'
import type { GraphStructure } from './structure.ts'

export type Start = '__start__'
export type End = '__end__'
// With their types written out, a function that returns one of them returns that and not any text.
export const START: Start = '__start__'
export const END: End = '__end__'

export interface NodePolicy {
  readonly retry?: RetryPolicy | number | undefined
  readonly cache?: CachePolicy | boolean | undefined
  readonly timeoutMs?: number | undefined
  /** Other than `read`: the node is one effect (R10), so it makes no calls of its own. */
  readonly safety?: Safety | undefined
}

export interface NodeOptions extends NodePolicy {
  /** Wait until nothing else is ready, so for all branches that lead here. */
  readonly defer?: boolean | undefined
  /** Allowed targets of this node's commands and sends, beside its edges; without this any node is allowed. */
  readonly targets?: readonly string[] | undefined
}

/** A compiled graph, used as a node of another one. */
export interface SubGraph {
  readonly kind: 'graph'
  readonly name: string
  readonly structure: GraphStructure
}

/** Types are the builder's business; what runs the graph hands over state or a send's input, and reads the return. */
export type NodeFunction = (input: unknown, run: Run) => unknown
export type PathFunction = (state: unknown, run: Run) => unknown

interface NodeFields {
  readonly name: string
  readonly defer: boolean
  /** Null when its commands may go anywhere. */
  readonly targets: readonly string[] | null
  readonly policy: NodePolicy
}
export interface FunctionNode extends NodeFields {
  readonly kind: 'node'
  readonly fn: NodeFunction
}
/** Its function decides, by the branch of its name, and writes nothing. */
export interface GateNode extends NodeFields {
  readonly kind: 'gate'
  readonly fn: PathFunction
}
export interface GraphNode extends NodeFields {
  readonly kind: 'graph'
  readonly graph: SubGraph
}
export type NodeDefinition = FunctionNode | GateNode | GraphNode

export interface Edge {
  readonly from: string
  readonly to: string
}

/** A node that waits for several others. */
export interface Join {
  /** Names it in the record of what has arrived: `target#n`. */
  readonly key: string
  readonly sources: readonly string[]
  readonly target: string
}

/** A way that is decided: by conditional edges of a node or START, or by a gate. */
export interface Branch {
  readonly from: string
  /** Possible return values and their nodes; a null label stands for the node's own name. */
  readonly targets: readonly { readonly label: string | null; readonly target: string }[]
  readonly decide: PathFunction
}

/** Everything that runs a graph; checked, and no longer changed by the builder it came from. */
export interface GraphDefinition {
  readonly channels: Channels
  /** In order of declaration, which is the order of everything that happens in one superstep. */
  readonly nodes: readonly NodeDefinition[]
  readonly edges: readonly Edge[]
  readonly joins: readonly Join[]
  /** Conditional edges, including those of gates. */
  readonly branches: readonly Branch[]
  /** Nodes that may run first. */
  readonly entry: readonly string[]
}
