import {
  checkpointOf,
  type ClewEvent,
  type FieldsOf,
  isOwn,
  type Payload,
  type StateOperation,
} from '@clew/ledger'
import type { CheckpointMetadata } from '@langchain/langgraph-checkpoint'
import { applyTo, type Cell, cellValue, toCell } from './cells.ts'
import { isInternal, readyTasks, type Seen, type Versions } from './next-nodes.ts'
import { isObject, setKey, sizeOf } from './rich-values.ts'
import type { SavedCheckpoint, Saved, TaskWrites, Write } from './saved.ts'
import { afterRun, mergeSeen } from './version-changes.ts'

/** Fields of a checkpoint beyond those of the ledger: only differences from the previous checkpoint. */
export interface CheckpointExtras {
  /** Left out where it is `loop`. */
  readonly source?: string | undefined
  /** Left out where it is the superstep less one. */
  readonly step?: number | undefined
  readonly v?: number | undefined
  readonly ts?: string | undefined
  readonly metadata?: Payload | undefined
  readonly versions?: Versions | undefined
  readonly seen?: Seen | undefined
  /**
   * In place of both, where the one node that was ready ran and its step carries this: the version of all that it wrote to
   * and of what is empty now. It has seen what it was triggered by.
   */
  readonly ran?: number | string | undefined
  /** Versions, what was seen, and internal channels are whole, not changes. */
  readonly whole?: true | undefined
  /** Internal channels: new values, and those that are empty now. */
  readonly hold?: Payload | undefined
  readonly drop?: readonly string[] | undefined
  /** The value of `__start__` is the input that the run began with. */
  readonly input?: true | undefined
  readonly previousBase?: number | undefined
  readonly applied?: readonly number[] | undefined
  /** Id of the previous checkpoint, if it need not be read to read this one, or is not in the record. */
  readonly parentId?: string | undefined
  readonly parentSeq?: number | undefined
}

export const START = '__start__'

export function metadataFields(metadata: CheckpointMetadata): Payload | undefined {
  let rest: Payload | undefined
  for (const key of Object.keys(metadata)) {
    if (key === 'source' || key === 'step') continue
    const value: unknown = Reflect.get(metadata, key)
    if (key === 'parents' && isObject(value) && Object.keys(value).length === 0) continue
    setKey((rest ??= {}), key, value)
  }
  return rest
}

/** How a state is folded on: where it stands, and what the events since say. */
export interface PayloadReading {
  readonly before: Saved | null
  readonly input: unknown
  readonly outputs: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  /** Writes of the step that carries the checkpoint. */
  readonly written: readonly Write[]
  /** Calls of `putWrites` that came before their checkpoint, by its id. */
  readonly early: ReadonlyMap<string, readonly TaskWrites[]>
}

/** Fields of the checkpoint that an event carries: an `execution.checkpoint`, or the step that led to it. */
type CheckpointFields = FieldsOf<'execution.checkpoint'>

/** The checkpoint of this adapter that an event carries. */
export function carriedBy(event: ClewEvent): CheckpointFields | undefined {
  const carried = isOwn(event, 'execution.checkpoint')
    ? event.payload
    : isOwn(event, 'execution.step_completed')
      ? event.payload.checkpoint
      : undefined
  return isObject(carried?.langgraph) && !event.ledger.erased ? carried : undefined
}

/** The checkpoint that an event carries, on top of the one before it; null for one that another writer made. */
export function readCheckpoint(
  event: ClewEvent,
  payload: CheckpointFields,
  { before, input, outputs, written, early }: PayloadReading,
): Saved | null {
  const { correlationId: runId, ledger, timestamp } = event
  const { langgraph: given, checkpointId: id } = payload
  if (!isObject(given) || id === undefined) return null
  const beyond = given as unknown as CheckpointExtras
  const { state, baseSeq, depth, from } = payload
  const isWhole = isObject(state)
  const values = new Map<string, Cell>(beyond.whole ? [] : before?.values)
  const counts: Record<string, number> = {
    ...(isWhole ? payload.versions : before?.counts),
  }
  let added = 0
  let grown = 0
  if (isWhole) {
    for (const channel of values.keys()) if (!isInternal(channel)) values.delete(channel)
    for (const [channel, value] of Object.entries(state)) values.set(channel, toCell(value))
  } else
    for (const operation of checkpointOf(event)?.operations ?? []) {
      const literal = toLiteral(operation, outputs)
      if (!literal) continue
      const { channel } = literal
      const cell = applyTo(values.get(channel), literal)
      if (cell) values.set(channel, cell)
      else values.delete(channel)
      setKey(counts, channel, (counts[channel] ?? 0) + 1)
      const size =
        literal.op === 'append' ? sizeOf(literal.items) : literal.op === 'set' ? sizeOf(literal.value) : 8
      added += size
      grown += literal.op === 'remove' ? 0 : size
    }
  for (const channel of beyond.drop ?? []) values.delete(channel)
  for (const [channel, value] of Object.entries(beyond.hold ?? {})) values.set(channel, toCell(value))
  if (beyond.input) values.set(START, toCell(input))
  const ran = before && beyond.ran !== undefined ? afterRun(before, beyond.ran, written, beyond.drop) : beyond
  const versions = beyond.whole ? (beyond.versions ?? {}) : { ...before?.versions, ...ran.versions }
  const seen = beyond.whole ? (beyond.seen ?? {}) : mergeSeen(before?.seen ?? {}, ran.seen)
  const superstep =
    payload.superstep ?? (isOwn(event, 'execution.step_completed') ? event.payload.superstep : undefined) ?? 0
  const hasBase = isWhole || before === null || from !== undefined
  return {
    id,
    eventId: event.eventId,
    runId,
    seq: ledger.seq,
    parent: parentOf(beyond, before, runId, from),
    v: beyond.v ?? 4,
    ts: beyond.ts ?? timestamp,
    metadata: {
      source: beyond.source ?? 'loop',
      step: beyond.step ?? superstep - 1,
      parents: {},
      ...beyond.metadata,
    } as CheckpointMetadata,
    superstep,
    values,
    versions,
    seen,
    ready: readyTasks(values, cellValue, versions, seen),
    writes: early.get(id) ?? [],
    applied: beyond.applied,
    counts,
    createdAt: timestamp,
    baseSeq: hasBase ? ledger.seq : typeof baseSeq === 'number' ? baseSeq : 1,
    previousBase: beyond.previousBase,
    depth: isWhole ? 0 : typeof depth === 'number' ? depth : (before?.depth ?? 0),
    size: isWhole ? sizeOf(state) : (before?.size ?? 0) + grown,
    since: isWhole
      ? { supersteps: 0, size: 0 }
      : { supersteps: (before?.since.supersteps ?? 0) + 1, size: (before?.since.size ?? 0) + added },
  }
}

function parentOf(
  { parentId, parentSeq }: CheckpointExtras,
  before: Saved | null,
  runId: string,
  from: unknown,
): Saved['parent'] {
  if (parentId === undefined)
    return before ? { id: before.id, place: { runId: before.runId, seq: before.seq } } : undefined
  const place = isObject(from)
    ? (from as unknown as SavedCheckpoint)
    : parentSeq === undefined
      ? undefined
      : { runId, seq: parentSeq }
  return { id: parentId, place }
}

/** The operation with its value in place of `from`. */
function toLiteral(
  operation: StateOperation,
  outputs: PayloadReading['outputs'],
): StateOperation | undefined {
  if (operation.op === 'remove' || operation.from === undefined) return operation
  const { op, channel, from } = operation
  const output = outputs.get(from)
  if (!output || !Object.hasOwn(output, channel)) return undefined
  const value = output[channel]
  if (op === 'append') return { op, channel, items: Array.isArray(value) ? (value as unknown[]) : [value] }
  return { op: 'set', channel, value }
}
