import type { StateOperation } from '@clew/ledger'

/** Write of one step to one channel. */
export interface Written<Write = unknown> {
  readonly stepId: string
  /** The node that wrote it, for errors. */
  readonly node: string
  readonly value: Write
  /** The record of the step holds exactly this value, so an operation may refer to it by `from`. */
  readonly isRecorded: boolean
}

export interface Merged<Value> {
  readonly value: Value
  /** Operations on the channel as recorded: folding them needs no merge rule (L1). */
  readonly operations: readonly StateOperation[]
}

/** Context in which a write is prepared for recording. */
export interface WriteContext {
  /** Next id; the sequence is the same each time the step runs. */
  nextId(): string
  /** `node.channel`, for errors. */
  readonly where: string
}

/**
 * One named part of a state: its first value and the rule by which writes are merged into it. Data and pure functions;
 * methods, so that a `Channel<number>` is also a `Channel<unknown>`.
 */
export interface Channel<Value, Write = Value> {
  readonly kind: 'last' | 'append' | 'messages' | 'custom'
  readonly initial: Value
  /** The write, owned, as it is to be recorded. */
  prepare(write: Write, context: WriteContext): unknown
  /** All writes of a superstep to this channel, in order of node declaration; at least one. */
  merge(name: string, before: Value, writes: readonly Written<Write>[]): Merged<Value>
}

export type Channels = Readonly<Record<string, Channel<unknown, unknown>>>

export type ValueOf<C> = C extends Channel<infer Value, infer _Write> ? Value : never
export type WriteValueOf<C> = C extends Channel<infer _Value, infer Write> ? Write : never

/** The state of a graph with these channels; frozen. */
export type StateOf<C extends Channels> = { readonly [K in keyof C]: ValueOf<C[K]> }
/** Write of a node: values for some of the channels. */
export type WriteOf<C extends Channels> = { readonly [K in keyof C]?: WriteValueOf<C[K]> | undefined }
