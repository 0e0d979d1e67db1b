import type { StateOperation } from '../catalogue.ts'
import type { ClewEvent } from '../envelope.ts'
import { isObject } from '../json.ts'
import { textOf } from './fields.ts'

/** Events that say something about the state of a run. */
export const STATE_TYPES: readonly string[] = [
  'execution.step_completed',
  'execution.checkpoint',
  'system.state_transitioned',
]
export const CHECKPOINT_TYPES: readonly string[] = ['execution.step_completed', 'execution.checkpoint']
/** What of their payloads tells about a checkpoint: not what the step gave back. */
export const CHECKPOINT_KEYS: ReadonlySet<string> = new Set(
  'checkpoint checkpointId superstep next baseSeq from state stepId'.split(' '),
)

/** An event of a run. */
export interface EventInRun {
  readonly runId: string
  readonly seq: number
}

/** What an event says of the superstep that it ends. */
export interface Checkpoint {
  readonly id: string
  readonly runId: string
  readonly seq: number
  readonly createdAt: string
  /** Undefined where a foreign writer left it out: that of the checkpoint before. */
  readonly superstep: number | undefined
  readonly next: readonly string[]
  readonly operations: readonly StateOperation[]
  /** The whole state at this checkpoint: its operations are in it already. */
  readonly state: Readonly<Record<string, unknown>> | undefined
  readonly versions: Readonly<Record<string, number>>
  readonly from: EventInRun | undefined
  /** Folding from here on gives the state at this event; 1 where the event does not say. */
  readonly baseSeq: number
}

/** Where a checkpoint stands, without what it says of the state. */
export type CheckpointMark = Pick<Checkpoint, 'id' | 'superstep' | 'seq' | 'baseSeq' | 'createdAt'>

/** The checkpoint that an event carries: a step that ended its superstep, or an `execution.checkpoint`. */
export function checkpointOf(event: ClewEvent): Checkpoint | null {
  const given = givenIn(event)
  if (!given) return null
  const { next, state, versions } = given
  return {
    ...markOf(event, given),
    runId: event.correlationId,
    next: Array.isArray(next) ? (next as string[]) : [],
    operations: operationsOf(given, event.payload['stepId']),
    state: isObject(state) ? state : undefined,
    versions: isObject(versions) ? (versions as Record<string, number>) : {},
    from: originOf(event, given),
  }
}

/** The same for who asks only where it stands, as every fold of a run does with every superstep. */
export function checkpointMark(event: ClewEvent): CheckpointMark | null {
  const given = givenIn(event)
  return given && markOf(event, given)
}

function givenIn({ eventType, payload, ledger }: ClewEvent): Record<string, unknown> | null {
  if (ledger.erased) return null
  if (eventType === 'execution.checkpoint') return payload
  const given = eventType === 'execution.step_completed' ? payload['checkpoint'] : undefined
  return isObject(given) ? given : null
}

function markOf(event: ClewEvent, given: Record<string, unknown>): CheckpointMark {
  const { eventId, timestamp, payload, ledger } = event
  const { checkpointId, state, baseSeq } = given
  const superstep = given['superstep'] ?? payload['superstep']
  const isBase = isObject(state) || originOf(event, given) !== undefined
  return {
    id: textOf(checkpointId) ?? eventId,
    seq: ledger.seq,
    createdAt: timestamp,
    superstep: typeof superstep === 'number' ? superstep : undefined,
    baseSeq: isBase ? ledger.seq : typeof baseSeq === 'number' && baseSeq > 0 ? baseSeq : 1,
  }
}

const originOf = ({ eventType }: ClewEvent, { from }: Record<string, unknown>): EventInRun | undefined =>
  eventType === 'execution.checkpoint' ? eventInRun(from) : undefined

function operationsOf(given: Record<string, unknown>, stepId: unknown): readonly StateOperation[] {
  const { writes, operations } = given
  const listed = Array.isArray(operations) ? (operations as StateOperation[]) : []
  if (!isObject(writes) || typeof stepId !== 'string') return listed
  const own = Object.entries(writes as Record<string, 'set' | 'append' | 'patch'>)
  return [...own.map(([channel, op]) => ({ op, channel, from: stepId })), ...listed]
}

function eventInRun(value: unknown): EventInRun | undefined {
  if (!isObject(value)) return undefined
  const { runId, seq } = value
  return typeof runId === 'string' && typeof seq === 'number' ? { runId, seq } : undefined
}
