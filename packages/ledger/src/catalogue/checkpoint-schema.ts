import {
  anything,
  integer,
  listOf,
  mapOf,
  maybe,
  oneOf,
  open,
  refined,
  type Schema,
  text,
  type TypeOf,
  variants,
} from './schema.ts'

const count = integer(0)

const OPERATIONS = {
  set: open({ op: oneOf('set'), channel: text, value: anything, from: maybe(text) }),
  append: open({
    op: oneOf('append'),
    channel: text,
    items: maybe(listOf(anything)),
    from: maybe(text),
  }),
  patch: open({
    op: oneOf('patch'),
    channel: text,
    set: maybe(mapOf(anything)),
    remove: maybe(listOf(text)),
    from: maybe(text),
  }),
  remove: open({ op: oneOf('remove'), channel: text }),
}

/** The value stands in the operation, or is what a step of the same superstep wrote to the channel. */
const literalOr = <T extends { from?: string | undefined }>(inner: Schema<T>, literal: string): Schema<T> =>
  refined(
    inner,
    `an operation with either ${literal} or from`,
    (operation) =>
      (Reflect.get(operation, literal) === undefined) !== (operation.from === undefined) ||
      (literal === 'set' && operation.from === undefined),
    literal === 'set'
      ? { not: { required: ['set', 'from'] } }
      : { oneOf: [{ required: [literal] }, { required: ['from'] }] },
  )

/** One closed change of a channel's state (L1): folding applies it without knowing any merge rule. */
export const stateOperation = variants('op', {
  set: literalOr(OPERATIONS.set, 'value'),
  append: literalOr(OPERATIONS.append, 'items'),
  patch: literalOr(OPERATIONS.patch, 'set'),
  remove: OPERATIONS.remove,
})

export type StateOperation = TypeOf<typeof stateOperation>

/** An event of a run: where a state goes on from. */
export const eventInRun = open({ runId: text, seq: integer(1) })

/** State after a superstep, from which the run can resume. */
export const checkpoint = {
  /** Its id, where an import or a framework brings one; else it is the id of its event. */
  checkpointId: maybe(text),
  superstep: maybe(count),
  /** Nodes that are ready, and what they need beside their names. */
  next: maybe(listOf(text)),
  tasks: anything,
  joins: anything,
  /** Channels that the step which carries this changed by what it wrote itself, and how: short for operations. */
  writes: maybe(mapOf(oneOf('set', 'append', 'patch'))),
  operations: maybe(listOf(stateOperation)),
  /** The whole state, operations included, with the versions of its channels: nothing before it is needed. */
  state: maybe(mapOf(anything)),
  versions: maybe(mapOf(count)),
  /** What channels begin with: they hold it until they are written. Their versions count writes only. */
  initial: maybe(mapOf(anything)),
  /** Seq of the event from which on folding gives this state. */
  baseSeq: maybe(count),
  /** How many runs the state goes back through. */
  depth: maybe(count),
  /** Nodes that are not asked about again before they run, and those that are asked about now that they have run. */
  passed: maybe(listOf(text)),
  after: maybe(listOf(text)),
  /** Fields that a checkpoint of LangGraph has beyond those above; `source` is left out if a superstep of the graph made it. */
  langgraph: maybe(open({ source: maybe(text) })),
}
