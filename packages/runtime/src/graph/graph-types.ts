import type { Run } from '../run/run.ts'
import type { Channels, StateOf, WriteOf } from './channel.ts'
import type { Command, Send } from './command.ts'
import type { End } from './definition.ts'

/** Names of the nodes so far, each with what its function takes: the state, or the input of a send. */
export type NodeInputs = Readonly<Record<string, unknown>>

// oxlint-disable-next-line typescript/no-empty-object-type -- what nodes are added to
export type NoNodes = {}

type MaybePromise<T> = T | Promise<T>

/** Names of nodes that take the state, so that an edge can lead there. */
export type StateNode<C extends Channels, Nodes extends NodeInputs> = {
  [N in keyof Nodes & string]: StateOf<C> extends Nodes[N] ? N : never
}[keyof Nodes & string]

type EdgeTarget<C extends Channels, Nodes extends NodeInputs> = StateNode<C, Nodes> | End

/** A send to one of these targets, with the input that the node takes. */
type SendTo<Nodes extends NodeInputs, Target extends string> = {
  [N in Target & keyof Nodes & string]: Send<N, Nodes[N]>
}[Target & keyof Nodes & string]

type Route<Label, Sent> = MaybePromise<Label | Sent | readonly (Label | Sent)[]>

/** Decides among a list of targets. */
export type ListPath<C extends Channels, Nodes extends NodeInputs, Target extends string> = (
  state: StateOf<C>,
  run: Run,
) => Route<Target & EdgeTarget<C, Nodes>, SendTo<Nodes, Target>>

/** Decides among labels; true and false for themselves where both are labels. */
export type MapPath<
  C extends Channels,
  Nodes extends NodeInputs,
  Targets extends Readonly<Record<string, string>>,
> = (
  state: StateOf<C>,
  run: Run,
) => Route<
  (keyof Targets & string) | ('true' | 'false' extends keyof Targets ? boolean : never),
  SendTo<Nodes, Targets[keyof Targets]>
>

/** Return value of a node: a write, a command, or nothing. */
// oxlint-disable-next-line typescript/no-invalid-void-type -- a node without a return statement
export type NodeResult<C extends Channels> = WriteOf<C> | Command<WriteOf<C> | undefined> | undefined | void

type KeysOf<T> = T extends unknown ? keyof T : never
type UnknownChannel<C extends Channels, Written> = Exclude<KeysOf<Written>, keyof C>
type WrittenBy<Result> =
  Result extends Command<infer Update, infer _Target> ? Update : Result extends object ? Result : never

/**
 * Stands at the name of a node, since TypeScript does not look for extra properties in what a function returns: nothing
 * to add to it, unless the function writes to something that is no channel.
 */
export type OnlyChannels<C extends Channels, Result> = [UnknownChannel<C, WrittenBy<Result>>] extends [never]
  ? unknown
  : { readonly 'writes to what is no channel': UnknownChannel<C, WrittenBy<Result>> }
