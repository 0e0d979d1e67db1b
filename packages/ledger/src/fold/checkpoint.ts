import { asErasable, type ErasableEvent, type OwnEvent, type StateOperation } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { isErased } from './fields.ts'

/** Events that say something about the state of a run. */
export const STATE_TYPES: readonly string[] = [
  'execution.step_completed',
  'execution.checkpoint',
  'system.state_transitioned',
]
export const CHECKPOINT_TYPES: readonly string[] = ['execution.step_completed', 'execution.checkpoint']
/** Payload fields that describe a checkpoint, without the step's result. */
export const CHECKPOINT_KEYS: ReadonlySet<string> = new Set(
  'checkpoint checkpointId superstep next baseSeq from state stepId'.split(' '),
)

/** An event of a run. */
export interface EventInRun {
  readonly runId: string
  readonly seq: number
}

/** Checkpoint data of the event that ends a superstep. */
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
  /** What channels begin with that no write has reached. */
  readonly initial: Readonly<Record<string, unknown>>
  readonly from: EventInRun | undefined
  /** Folding from here on gives the state at this event; 1 where the event does not say. */
  readonly baseSeq: number
}

/** Place of a checkpoint without its state. */
export type CheckpointMark = Pick<Checkpoint, 'id' | 'superstep' | 'seq' | 'baseSeq' | 'createdAt'>

/** The checkpoint that an event carries: a step that ended its superstep, or an `execution.checkpoint`. */
export function checkpointOf(event: ClewEvent | ErasableEvent): Checkpoint | null {
  const given = givenIn(event)
  if (!given) return null
  const { fields, from, stepId } = given
  const { next = [], state, versions = {}, initial = {} } = fields
  return {
    ...markOf(event, given),
    runId: event.correlationId,
    next,
    operations: operationsOf(fields, stepId),
    state,
    versions,
    initial,
    from,
  }
}

/** The same for who asks only where it stands, as every fold of a run does with every superstep. */
export function checkpointMark(event: ClewEvent | ErasableEvent): CheckpointMark | null {
  const given = givenIn(event)
  return given && markOf(event, given)
}

type CheckpointFields = NonNullable<OwnEvent<'execution.step_completed'>['payload']['checkpoint']>

interface Given {
  readonly fields: CheckpointFields
  /** Only in an event of its own. */
  readonly from: EventInRun | undefined
  /** The step that carries it, and the superstep of that step. */
  readonly stepId?: string | undefined
  readonly stepSuperstep?: number | undefined
}

function givenIn(event: ClewEvent | ErasableEvent): Given | null {
  if (isErased(event)) return null
  const own = asErasable(event)
  if (own?.eventType === 'execution.checkpoint') return { fields: { ...own.payload }, from: own.payload.from }
  if (own?.eventType !== 'execution.step_completed' || !own.payload.checkpoint) return null
  const { checkpoint, stepId, superstep } = own.payload
  return { fields: checkpoint, from: undefined, stepId, stepSuperstep: superstep }
}

function markOf(
  { eventId, timestamp, ledger }: Envelope,
  { fields, from, stepSuperstep }: Given,
): CheckpointMark {
  const { checkpointId = eventId, state, baseSeq = 0, superstep = stepSuperstep } = fields
  return {
    id: checkpointId,
    seq: ledger.seq,
    createdAt: timestamp,
    superstep,
    baseSeq: state || from ? ledger.seq : Math.max(1, baseSeq),
  }
}

type Envelope = Pick<ClewEvent, 'eventId' | 'timestamp' | 'ledger'>

function operationsOf(
  { writes, operations = [] }: CheckpointFields,
  stepId: string | undefined,
): readonly StateOperation[] {
  if (!writes || stepId === undefined) return operations
  const own = Object.entries(writes)
  return [...own.map(([channel, op]) => ({ op, channel, from: stepId })), ...operations]
}
