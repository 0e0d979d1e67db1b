import type { StateOperation } from '../catalogue.ts'
import type { ClewEvent } from '../envelope.ts'
import { setKey } from '../json.ts'

/** State of a run at a superstep, from which it can go on. */
export interface RunState {
  readonly state: Readonly<Record<string, unknown>>
  readonly superstep: number
  readonly next: readonly string[]
  readonly createdAt: string
  readonly checkpointId: string | null
}

/** One closed operation applied to a channel: no merge rule, hence no user code, is needed to fold (L1). */
export function applyOperation(
  state: Readonly<Record<string, unknown>>,
  operation: StateOperation,
): Record<string, unknown> {
  const next = { ...state }
  const before = state[operation.channel]
  switch (operation.op) {
    case 'set':
      setKey(next, operation.channel, operation.value)
      break
    case 'append':
      setKey(next, operation.channel, [
        ...(Array.isArray(before) ? (before as unknown[]) : []),
        ...operation.items,
      ])
      break
    case 'patch': {
      const patched: Record<string, unknown> = { ...(before as Record<string, unknown> | undefined) }
      for (const key of operation.remove ?? []) delete patched[key]
      for (const [key, value] of Object.entries(operation.set ?? {})) setKey(patched, key, value)
      setKey(next, operation.channel, patched)
      break
    }
    case 'remove':
      delete next[operation.channel]
      break
  }
  return next
}

/** The state a run had built, up to and including `superstep`; null before its first state. */
export function foldState(
  events: Iterable<ClewEvent>,
  superstep = Number.POSITIVE_INFINITY,
): RunState | null {
  let folded: RunState | null = null
  for (const event of events) {
    const next = advanceState(folded, event)
    if (next && next.superstep > superstep) break
    folded = next
  }
  return folded
}

function advanceState(
  before: RunState | null,
  { eventType, eventId, payload, timestamp }: ClewEvent,
): RunState | null {
  if (eventType !== 'system.state_transitioned' && eventType !== 'execution.checkpoint') return before
  const base = before ?? { state: {}, superstep: 0, next: [], createdAt: timestamp, checkpointId: null }
  const superstep = typeof payload['superstep'] === 'number' ? payload['superstep'] : base.superstep
  if (eventType === 'system.state_transitioned') {
    const operations = (payload['operations'] ?? []) as StateOperation[]
    const state = operations.reduce<RunState['state']>(applyOperation, base.state)
    return { ...base, state, superstep, createdAt: timestamp }
  }
  const { checkpointId, next } = payload
  return {
    state: base.state,
    superstep,
    next: Array.isArray(next) ? (next as string[]) : [],
    createdAt: timestamp,
    checkpointId: typeof checkpointId === 'string' ? checkpointId : eventId,
  }
}
