import { checkpointOf, ClewError, type ClewEvent, isOwn, parseStepId } from '@clew/ledger'
import type { RunResult, StepChange, RunListener, NodeUpdate } from '../run/result.ts'
import type { MessageItem, StreamOrigin, PauseItem, StreamMode, TokenItem } from './stream-items.ts'
import { stepIdOf } from '../machine/record.ts'

const MODES: ReadonlySet<unknown> = new Set(['values', 'updates', 'messages', 'steps', 'events', 'custom'])
const PAUSING: ReadonlySet<unknown> = new Set(['updates', 'messages', 'steps'])

export interface TellOptions {
  readonly runId: string
  readonly mode: StreamMode | readonly StreamMode[]
  readonly children: boolean
  /** The run is recorded: ends are emitted after their commit. */
  readonly isRecorded: boolean
  readonly tell: (item: unknown) => void
}

export interface ItemEmitter {
  readonly listener: RunListener
  /** A pause is the last item. */
  end(result: RunResult): void
}

/** Makes the items of a stream from the machine's notifications about a run and its children. */
export function createItemEmitter({
  runId: streamed,
  mode,
  children,
  isRecorded,
  tell,
}: TellOptions): ItemEmitter {
  const modes = new Set<StreamMode>(typeof mode === 'string' ? [mode] : mode)
  for (const each of modes) if (!MODES.has(each)) throw unknownMode(each)
  if (modes.size === 0) throw unknownMode(mode)
  const isPlain = typeof mode === 'string' && !children
  /** Emitted messages by id: a sub-graph passes them to its parent, which must not emit them again. */
  const spoken = new Map<string, string>()
  const known = new Map<string, RunListener>()

  function give(as: StreamMode | 'pause', data: unknown, origin: StreamOrigin): void {
    if (isPlain) tell(data)
    else tell(children ? [as, data, origin] : [as, data])
  }

  /** One listener per run, also when its parent is released and acquired again. */
  function listenerOf(runId: string, namespace: readonly string[]): RunListener {
    const made = known.get(runId) ?? make(runId, namespace)
    known.set(runId, made)
    return made
  }

  function make(runId: string, namespace: readonly string[]): RunListener {
    const origin: StreamOrigin = { runId, namespace }
    const isRoot = namespace.length === 0
    const tellsState = isRoot || children
    /** Writes of nodes by step, until their end is committed. */
    const held = new Map<string, NodeUpdate>()
    let lastSuperstep = -1
    let committed = -1

    function onEvent(event: ClewEvent): void {
      if (modes.has('events')) give('events', event, origin)
      if (isOwn(event, 'execution.step_completed')) {
        const update = held.get(stepIdOf(event))
        if (update) tellUpdate(update)
      }
      committed = Math.max(committed, checkpointOf(event)?.superstep ?? -1)
    }

    function onStep({ stepId, name, kind, attempt, status, output, error }: StepChange): void {
      const ended = { ...(output !== undefined && { output }), ...(error !== undefined && { error }) }
      give('steps', { type: 'step', stepId, name, kind, attempt, status, ...ended, ...origin }, origin)
    }

    function onUpdate(update: NodeUpdate): void {
      if (isRecorded) held.set(update.stepId, update)
      else tellUpdate(update)
    }

    function tellUpdate({ stepId, node, superstep, write, messages }: NodeUpdate): void {
      held.delete(stepId)
      if (modes.has('updates') && tellsState) give('updates', { [node]: write }, origin)
      if (!modes.has('messages')) return
      for (const message of messages) {
        const text = JSON.stringify(message)
        if (spoken.get(message.id) === text) continue
        spoken.set(message.id, text)
        const item: MessageItem = { type: 'message', message, stepId, node, superstep, ...origin }
        give('messages', item, origin)
      }
    }

    /** Emits the state once per superstep, and only if its checkpoint was written during this stream. */
    function onValues(state: Readonly<Record<string, unknown>>, superstep: number): void {
      if (superstep <= lastSuperstep || (isRecorded && superstep > committed)) return
      lastSuperstep = superstep
      give('values', state, origin)
    }

    function onToken(stepId: string | null, text: string): void {
      const item: TokenItem = { type: 'token', text, stepId, ...placeOf(stepId), ...origin }
      give('messages', item, origin)
    }

    return {
      event: onEvent,
      child: (link) => listenerOf(link.runId, [...namespace, link.parentStepId]),
      ...(modes.has('steps') && { step: onStep }),
      ...((modes.has('updates') || modes.has('messages')) && { update: onUpdate }),
      ...(modes.has('values') && tellsState && { values: onValues }),
      ...(modes.has('messages') && { token: onToken }),
      ...(modes.has('custom') && {
        custom: (_: string | null, data: unknown) => give('custom', data, origin),
      }),
    }
  }

  return {
    listener: listenerOf(streamed, []),
    end({ runId, status, pause, pauses }) {
      if (status !== 'paused') return
      const item: PauseItem = { type: 'pause', runId, pause, pauses }
      if (!isPlain || PAUSING.has(mode)) give('pause', item, { runId, namespace: [] })
    },
  }
}

/** The node and superstep that a step lies in, from the first part of its id: `think@s12/search#0`. */
function placeOf(stepId: string | null): Pick<TokenItem, 'node' | 'superstep'> {
  const top = stepId === null ? undefined : parseStepId(stepId.split('/', 1)[0] as string)
  if (!top) return { node: null, superstep: null }
  const superstep = /^s(\d+)(\.i\d+)?$/.exec(top.key ?? '')?.[1]
  return { node: top.name, superstep: superstep === undefined ? null : Number(superstep) }
}

const unknownMode = (mode: unknown): ClewError =>
  new ClewError(
    'bad_option',
    `There is no stream mode ${JSON.stringify(mode)}`,
    `Use one or a list of ${[...MODES].join(', ')}.`,
    { mode: String(mode) },
  )
