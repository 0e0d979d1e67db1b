/** In the registry of all symbols: a graph may come from another copy of this package than the node's code. */
const COMMAND = Symbol.for('clew.command')
const SEND = Symbol.for('clew.send')

/** Runs a node once with this input in place of the state. */
export interface Send<Node extends string = string, Input = unknown> {
  readonly [SEND]: true
  readonly node: Node
  readonly input: Input
}

export function send<const Node extends string, Input>(node: Node, input: Input): Send<Node, Input> {
  return Object.freeze({ [SEND]: true as const, node, input })
}

export interface CommandParts<Write = unknown, Target extends string = string> {
  /** Write, as if it had been returned. */
  readonly update?: Write | undefined
  /** Next nodes, in place of the node's edges; END ends this branch. */
  readonly goto?: Target | readonly Target[] | undefined
  /** Further nodes to run, each with its own input, in addition to the edges or `goto`. */
  readonly send?: Send | readonly Send[] | undefined
  /** The run ends with this superstep, whatever else would follow. */
  readonly end?: boolean | undefined
}

export interface Command<Write = unknown, Target extends string = string> {
  readonly [COMMAND]: true
  readonly update: Write | undefined
  readonly goto: readonly Target[] | null
  readonly sends: readonly Send[]
  readonly end: boolean
}

export function command<Write = undefined, const Target extends string = string>({
  update,
  goto,
  send: sends = [],
  end = false,
}: CommandParts<Write, Target>): Command<Write, Target> {
  return Object.freeze({
    [COMMAND]: true as const,
    update,
    goto: goto === undefined ? null : typeof goto === 'string' ? [goto] : [...goto],
    sends: isSend(sends) ? [sends] : [...sends],
    end,
  })
}

export const isSend = (value: unknown): value is Send => hasMark(value, SEND)
export const isCommand = (value: unknown): value is Command => hasMark(value, COMMAND)

const hasMark = (value: unknown, mark: symbol): boolean =>
  typeof value === 'object' && value !== null && Reflect.get(value, mark) === true

/** Parsed return value of a node. */
export interface NodeReturn {
  /** Null when it wrote nothing. */
  readonly write: unknown
  /** Targets of its command; null if its edges decide. */
  readonly goto: readonly string[] | null
  readonly sends: readonly Send[]
  readonly end: boolean
}

export function readReturn(returned: unknown): NodeReturn {
  if (!isCommand(returned)) return { write: returned ?? null, goto: null, sends: [], end: false }
  const { update, goto, sends, end } = returned
  return { write: update ?? null, goto, sends, end }
}
