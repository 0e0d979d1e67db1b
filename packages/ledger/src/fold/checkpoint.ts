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

/** The checkpoint that an event carries: a step that ended its superstep, or an `execution.checkpoint`. */
export function checkpointOf({
  eventType,
  eventId,
  correlationId,
  timestamp,
  payload,
  ledger,
}: ClewEvent): Checkpoint | null {
  const given =
    eventType === 'execution.checkpoint'
      ? payload
      : eventType === 'execution.step_completed'
        ? payload['checkpoint']
        : undefined
  if (!isObject(given) || ledger.erased) return null
  const { next, state, versions, from, baseSeq } = given
  const superstep = given['superstep'] ?? payload['superstep']
  const source = eventType === 'execution.checkpoint' ? eventInRun(from) : undefined
  const isBase = isObject(state) || source !== undefined
  return {
    id: textOf(given['checkpointId']) ?? eventId,
    runId: correlationId,
    seq: ledger.seq,
    createdAt: timestamp,
    superstep: typeof superstep === 'number' ? superstep : undefined,
    next: Array.isArray(next) ? (next as string[]) : [],
    operations: operationsOf(given, payload['stepId']),
    state: isObject(state) ? state : undefined,
    versions: isObject(versions) ? (versions as Record<string, number>) : {},
    from: source,
    baseSeq: isBase ? ledger.seq : typeof baseSeq === 'number' && baseSeq > 0 ? baseSeq : 1,
  }
}

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
