import { isoMs, isoText, type Payload, type PayloadOf, type StateOperation } from '@clew/ledger'
import type { Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint'
import { type Cell, cellValue, findChange, toCell } from './cells.ts'
import { type CheckpointExtras, metadataFields, START } from './checkpoint-payload.ts'
import { isInternal, readyTasks, type Seen, type Versions } from './next-nodes.ts'
import { isObject, isSame, isSameList, setKey, toPayload } from './rich-values.ts'
import type { SavedCheckpoint, Saved, TaskWrites } from './saved.ts'
import { isOutput } from './task-writes.ts'
import { hasKeys, mergeSeen, ranVersion, seenChanges, versionChanges } from './version-changes.ts'

/** Turns go back through at most so many runs before a whole state is written. */
const MAX_DEPTH = 128
const MIN_SIZE = 16 * 1024
const MIN_SUPERSTEPS = 256
const SIZE_PER_SUPERSTEP = 256

export interface Carrier {
  readonly call: TaskWrites
  readonly payload: Payload
}

export interface CheckpointGiven {
  readonly checkpoint: Checkpoint
  readonly metadata: CheckpointMetadata
  readonly newVersions: Versions
  /** The checkpoint before it; undefined when there is none or it is not in the record. */
  readonly before: Saved | undefined
  /** The id of the one before, if the framework named one. */
  readonly parentId: string | undefined
  /** First checkpoint of a run that continues another run's state. */
  readonly isTurn: boolean
  /** First checkpoint of a run, whose first event can hold the input. */
  readonly isFirst: boolean
  /** Steps of this very superstep and run: a value may be given by naming one. */
  readonly writers: readonly TaskWrites[]
  /** The only one of them with what its event tells, where that carries this checkpoint. */
  readonly carrier: Carrier | undefined
  readonly applied: readonly number[] | undefined
}

export interface CheckpointPlan {
  readonly payload: Payload
  /** New values by channel, but for those that a step has written: they were looked at when it did. */
  readonly changes: Readonly<Record<string, unknown>>
  /** Nodes that run next. */
  readonly next: readonly string[]
  readonly input: unknown
  /** When it was made, where the framework tells it by a time that an event can have. */
  readonly timestamp: string | undefined
  /** The same in milliseconds. */
  readonly madeMs: number
  /** All of the checkpoint but its place. */
  toSaved(place: SavedCheckpoint & Pick<Saved, 'eventId'>): Saved
}

/** Plans the record of a checkpoint: its changes, and from time to time the whole state. */
export function planCheckpoint(given: CheckpointGiven): CheckpointPlan {
  const { checkpoint, metadata, before, parentId, isTurn, isFirst, carrier } = given
  const { channel_versions: versions, versions_seen: seen } = checkpoint
  const values = new Map<string, Cell>(before?.values)
  const operations: StateOperation[] = []
  let writes: Record<string, 'set' | 'append' | 'patch'> | undefined
  const counts: Record<string, number> = { ...before?.counts }
  const hold: Payload = {}
  const drop: string[] = []
  let added = 0
  let grown = 0
  let input: unknown

  for (const channel of before?.values.keys() ?? [])
    if (!isKept(channel, given)) {
      if (isInternal(channel)) drop.push(channel)
      else {
        operations.push({ op: 'remove', channel })
        countChange(counts, channel, 1)
      }
      values.delete(channel)
    }
  for (const channel of Object.keys(checkpoint.channel_values)) {
    if (!isChanged(channel, given)) continue
    const live = checkpoint.channel_values[channel]
    if (isInternal(channel)) {
      const cell = values.get(channel)
      if (cell && isSame(live, cellValue(cell))) continue
      const stored = toPayload(live, channel)
      values.set(channel, toCell(stored))
      if (channel === START && isFirst) input = stored
      else setKey(hold, channel, stored)
      continue
    }
    const change = findChange(channel, values.get(channel), live)
    if (!change) continue
    values.set(channel, change.cell)
    const { operation } = change
    if (carrier && isWrittenBy(carrier, operation)) {
      setKey((writes ??= {}), channel, operation.op)
      countChange(counts, channel, 1)
    } else countChange(counts, channel, addByReference(operations, operation, given.writers))
    added += change.added
    grown += change.grown
  }

  const changedVersions = versionChanges(before?.versions, versions)
  const changedSeen = seenChanges(before?.seen, seen)
  const superstep = Math.max(0, metadata.step + 1)
  const since = { supersteps: (before?.since.supersteps ?? 0) + 1, size: (before?.since.size ?? 0) + added }
  const size = (before?.size ?? 0) + grown
  const depth = (before?.depth ?? 0) + (isTurn ? 1 : 0)
  const isWhole =
    before !== undefined &&
    (changedVersions === undefined ||
      changedSeen === undefined ||
      depth >= MAX_DEPTH ||
      isWholeDue(size, since))
  const ready = readyTasks(values, cellValue, versions, seen)
  const rest = metadataFields(metadata)
  const madeMs = timeOf(checkpoint.ts)
  const hasTime = !Number.isNaN(madeMs)
  const holdAll = isWhole ? wholeOf(values, isInternal, input !== undefined) : hold
  const versionsTold = isWhole ? { ...versions } : changedVersions
  const seenTold = isWhole ? (toPayload(seen, 'versions_seen') as Seen) : changedSeen
  const ran =
    isWhole || isTurn ? undefined : ranVersion(before, carrier?.call, drop, changedVersions, changedSeen)
  // Field by field: an object spread for each of them took as long as all the rest of the plan.
  const beyond: { -readonly [Field in keyof CheckpointExtras]: CheckpointExtras[Field] } = {}
  if (metadata.source !== 'loop') beyond.source = metadata.source
  if (metadata.step !== superstep - 1) beyond.step = metadata.step
  if (checkpoint.v !== 4) beyond.v = checkpoint.v
  if (!hasTime) beyond.ts = checkpoint.ts
  if (rest) beyond.metadata = toPayload(rest, 'metadata') as Payload
  if (ran !== undefined) beyond.ran = ran
  else {
    if (versionsTold && hasKeys(versionsTold)) beyond.versions = versionsTold
    if (seenTold && hasKeys(seenTold)) beyond.seen = seenTold
  }
  if (hasKeys(holdAll)) beyond.hold = holdAll
  if (isWhole) beyond.whole = true
  else if (drop.length > 0) beyond.drop = drop
  if (input !== undefined) beyond.input = true
  if (isWhole && !isTurn && before.baseSeq !== undefined) beyond.previousBase = before.baseSeq
  if (given.applied) beyond.applied = given.applied
  if (isWhole) {
    beyond.parentId = before.id
    if (!isTurn) beyond.parentSeq = before.seq
  } else if (!before && parentId) beyond.parentId = parentId

  const next: string[] = []
  for (const { node } of ready) if (!next.includes(node)) next.push(node)
  const payload: PayloadOf<'execution.checkpoint'> =
    carrier?.payload['superstep'] === superstep
      ? { checkpointId: checkpoint.id, next }
      : { checkpointId: checkpoint.id, superstep, next }
  if (isWhole) {
    payload.state = wholeOf(values, (channel) => !isInternal(channel), false)
    payload.versions = counts
  } else {
    if (writes) payload.writes = writes
    if (operations.length > 0) payload.operations = operations
  }
  if (isTurn && before) payload.from = { runId: before.runId, seq: before.seq }
  if (!isTurn && !isWhole && before) payload.baseSeq = before.baseSeq
  if (isTurn && !isWhole) payload.depth = depth
  payload.langgraph = beyond
  return {
    payload,
    changes: changesOf(operations, hold, input),
    next,
    input,
    timestamp: hasTime ? checkpoint.ts : undefined,
    madeMs,
    toSaved: ({ eventId, runId, seq }) => ({
      id: checkpoint.id,
      eventId,
      runId,
      seq,
      parent: before
        ? { id: before.id, place: { runId: before.runId, seq: before.seq } }
        : parentId === undefined
          ? undefined
          : { id: parentId, place: undefined },
      v: checkpoint.v,
      ts: checkpoint.ts,
      metadata: { ...metadata, ...(beyond.metadata as object) },
      superstep,
      values,
      versions: { ...versions },
      seen:
        before && changedSeen
          ? mergeSeen(before.seen, changedSeen)
          : (toPayload(seen, 'versions_seen') as Seen),
      ready,
      writes: [],
      applied: given.applied,
      counts,
      createdAt: hasTime ? checkpoint.ts : new Date().toISOString(),
      baseSeq: isWhole || isTurn || !before ? seq : before.baseSeq,
      previousBase: beyond.previousBase,
      depth: isWhole ? 0 : depth,
      size,
      since: isWhole ? { supersteps: 0, size: 0 } : since,
    }),
  }
}

function changesOf(operations: readonly StateOperation[], hold: Payload, input: unknown): Payload {
  const changes: Payload = { ...hold }
  if (input !== undefined) changes[START] = input
  for (const operation of operations) {
    if (operation.op === 'remove' || operation.from !== undefined) continue
    const { op, channel } = operation
    setKey(changes, channel, op === 'append' ? operation.items : operation.value)
  }
  return changes
}

/** Whether a channel of the checkpoint before stays without a word: its version is the same. */
function isKept(channel: string, { checkpoint, newVersions, before }: CheckpointGiven): boolean {
  const { channel_versions: versions, channel_values: values } = checkpoint
  if (!Object.hasOwn(versions, channel)) return false
  if (Object.hasOwn(newVersions, channel)) return Object.hasOwn(values, channel)
  return versions[channel] === before?.versions[channel] || Object.hasOwn(values, channel)
}

/**
 * Whether the value of a channel is taken from the checkpoint: the framework calls it new. Where it copies a checkpoint,
 * or goes on from one that is not in the record, nothing is new to it, and yet nothing of it is here.
 */
function isChanged(channel: string, given: CheckpointGiven): boolean {
  const { checkpoint, metadata, newVersions, before, parentId } = given
  if (Object.hasOwn(newVersions, channel)) return true
  const { channel_versions: versions } = checkpoint
  if (!Object.hasOwn(versions, channel)) return false
  if (before) return versions[channel] !== before.versions[channel]
  return parentId !== undefined || metadata.source === 'fork'
}

/** Whether the operation does no more than what the step that carries it has as its output. */
function isWrittenBy({ payload }: Carrier, operation: StateOperation): boolean {
  const { output } = payload
  const { op, channel } = operation
  if (!isObject(output) || !Object.hasOwn(output, channel)) return false
  const value = output[channel]
  if (op === 'set') return isStored(value, operation.value)
  return op === 'append' && isStoredList(Array.isArray(value) ? value : [value], operation.items ?? [])
}

/** Names the steps that wrote these items or this value, where they did; answers with how many operations it takes. */
function addByReference(
  found: StateOperation[],
  operation: StateOperation,
  writers: readonly TaskWrites[],
): number {
  const { op, channel } = operation
  if ((op !== 'append' && op !== 'set') || (op === 'set' && isShort(operation.value)))
    return addTo(found, operation)
  const written: { readonly stepId: string; readonly value: unknown }[] = []
  for (const { stepId, writes } of writers) {
    const own = writes.filter((write) => write.channel === channel)
    if (stepId !== undefined && own.length === 1 && isOutput(writes))
      written.push({ stepId, value: own[0]?.value })
  }
  if (op === 'set') {
    const from = written.find(({ value }) => isStored(value, operation.value))
    return addTo(found, from ? { op, channel, from: from.stepId } : operation)
  }
  const items = operation.items ?? []
  const used = new Set<string>()
  let count = 0
  for (let at = 0; at < items.length; ) {
    const from = written.find(({ stepId, value }) => {
      const list = Array.isArray(value) ? (value as unknown[]) : [value]
      return !used.has(stepId) && list.length > 0 && isStoredList(list, items.slice(at, at + list.length))
    })
    count++
    if (!from) {
      found.push(at === 0 ? operation : { op, channel, items: items.slice(at) })
      break
    }
    used.add(from.stepId)
    found.push({ op, channel, from: from.stepId })
    at += Array.isArray(from.value) ? from.value.length : 1
  }
  return count
}

function addTo(found: StateOperation[], operation: StateOperation): number {
  found.push(operation)
  return 1
}

/** Takes no more room than the name of a step. */
const isShort = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'boolean' || value === null

const isStoredList = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((item, i) => isStored(item, other[i]))

/** Both are as they go into a payload: tags are plain objects here. */
function isStored(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null)
    return Object.is(one, other)
  if (Array.isArray(one)) return Array.isArray(other) && isStoredList(one, other)
  if (Object.getPrototypeOf(one) !== Object.prototype) return isSame(one, other)
  const keys = Object.keys(one)
  return (
    !Array.isArray(other) &&
    isSameList(keys, Object.keys(other), keys.length) &&
    keys.every((key) => isStored(Reflect.get(one, key), Reflect.get(other, key)))
  )
}

const isWholeDue = (size: number, since: Saved['since']): boolean =>
  since.size >= Math.max(MIN_SIZE, size) ||
  since.supersteps >= Math.max(MIN_SUPERSTEPS, size / SIZE_PER_SUPERSTEP)

function wholeOf(
  values: ReadonlyMap<string, Cell>,
  isIn: (channel: string) => boolean,
  isWithoutStart: boolean,
): Payload {
  const whole: Payload = {}
  for (const [channel, cell] of values)
    if (isIn(channel) && !(isWithoutStart && channel === START))
      setKey(whole, channel, cell.kind === 'list' ? cell.items.slice(0, cell.length) : cell.value)
  return whole
}

function countChange(counts: Record<string, number>, channel: string, by: number): void {
  setKey(counts, channel, (Object.hasOwn(counts, channel) ? (counts[channel] as number) : 0) + by)
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/
/** In milliseconds; NaN for what no event can have as its time. */
function timeOf(text: unknown): number {
  if (typeof text !== 'string') return Number.NaN
  const ms = isoMs(text)
  // Nearly all are as they are printed, and then there is no need of a pattern.
  return Number.isNaN(ms) || isoText(ms) === text || TIME.test(text) ? ms : Number.NaN
}
