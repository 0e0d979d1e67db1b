import type { ClewEvent, Pause } from '@clew/ledger'
import type { KeptMessage } from '../graph/message.ts'
import type { StepChange } from '../run/result.ts'

export type StreamMode = 'values' | 'updates' | 'messages' | 'steps' | 'events' | 'custom'
/** A function has no channels, so neither values nor updates. */
export type AgentStreamMode = Exclude<StreamMode, 'values' | 'updates'>

/** The run that an item comes from: the one that is streamed, or a child of it. */
export interface StreamOrigin {
  readonly runId: string
  /** Ids of the steps that lead from the streamed run to this one; empty for itself. */
  readonly namespace: readonly string[]
}

interface Spoken extends StreamOrigin {
  readonly stepId: string | null
  /** The node, or the outermost step of a function, that emitted the item. */
  readonly node: string | null
  readonly superstep: number | null
}

/** A piece of text as it came: nothing of it is stored. */
export interface TokenItem extends Spoken {
  readonly type: 'token'
  readonly text: string
}

/** A whole message that a node wrote to a `messages()` channel, once committed. */
export interface MessageItem extends Spoken {
  readonly type: 'message'
  readonly message: KeptMessage
}

export interface StepItem extends StepChange, StreamOrigin {
  readonly type: 'step'
}

/** The run waits for answers: the last item of its stream, which ends without an error (R6). */
export interface PauseItem {
  readonly type: 'pause'
  readonly runId: string
  /** The first open question. */
  readonly pause: Pause | null
  readonly pauses: readonly Pause[]
}

/** Write of a node; null if it wrote nothing. */
export type UpdateItem<Write = Readonly<Record<string, unknown>>> = {
  readonly [node: string]: Write | null
}

/** Item type of each mode. */
interface ItemsByMode<State, Write> {
  readonly values: State
  readonly updates: UpdateItem<Write>
  readonly messages: TokenItem | MessageItem
  readonly steps: StepItem
  readonly events: ClewEvent
  readonly custom: unknown
}

/** Modes whose streams contain pause items; items of other modes are plain data. */
type Pausing = 'updates' | 'messages' | 'steps'

type ItemsOfMode<Mode extends StreamMode, State, Write> = {
  [M in Mode]: readonly [mode: M, data: ItemsByMode<State, Write>[M]]
}[Mode]
type ToldFrom<Mode extends StreamMode, State, Write> = {
  [M in Mode]: readonly [mode: M, data: ItemsByMode<State, Write>[M], origin: StreamOrigin]
}[Mode]

/**
 * Item of a stream. One mode: its data. A list of modes: `[mode, data]`, and `['pause', …]` at the end of a run that
 * pauses. With `children`: `[mode, data, origin]` for the run and all runs below it.
 */
export type StreamItem<
  Mode extends StreamMode | readonly StreamMode[],
  Children extends boolean,
  State,
  Write,
> = Children extends true
  ?
      | ToldFrom<Mode extends readonly StreamMode[] ? Mode[number] : Mode & StreamMode, State, Write>
      | readonly [mode: 'pause', data: PauseItem, origin: StreamOrigin]
  : Mode extends readonly StreamMode[]
    ? ItemsOfMode<Mode[number], State, Write> | readonly [mode: 'pause', data: PauseItem]
    : Mode extends StreamMode
      ? ItemsByMode<State, Write>[Mode] | (Mode extends Pausing ? PauseItem : never)
      : never

export interface StreamShape<
  Mode extends StreamMode | readonly StreamMode[],
  Children extends boolean = false,
> {
  readonly mode?: Mode | undefined
  /** Also values and updates of child runs; then every item says which run it comes from. */
  readonly children?: Children | undefined
}

/** Tells the end of a paused run from what its nodes wrote and its steps did. */
export const isPauseItem = (item: unknown): item is PauseItem =>
  typeof item === 'object' && item !== null && Reflect.get(item, 'type') === 'pause'
