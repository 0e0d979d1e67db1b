import { formatStepId, isoMs, type Payload } from '@clew/ledger'
import { isDerived } from './derived-id.ts'
import type { BufferedEvent, InvocationSignal, RunBuffer } from './run-buffer.ts'
import { findTask, type ReadyTask } from './next-nodes.ts'
import { isObject } from './rich-values.ts'
import type { Saved, Write } from './saved.ts'
import { usageIn } from './told-usage.ts'
import { addOutput, PENDING_WRITES, pendingFields, STEP_COMPLETED } from './task-writes.ts'

/** The task of input and answers that no node of the graph asked for. */
export const NULL_TASK = '00000000-0000-0000-0000-000000000000'
/** Channel of a node's error, which is always recorded. */
export const ERROR = '__error__'
const ERROR_SOURCE = '__error_source_node__'
const INTERRUPT = '__interrupt__'
const RESUME = '__resume__'

export interface WritesGiven {
  readonly line: RunBuffer
  readonly taskId: string
  readonly writes: readonly Write[]
  readonly childRunId: string | undefined
  readonly ns: string
  readonly signal: InvocationSignal
  /** The invocation was aborted before this call. */
  readonly isLate: boolean
  /** A `ClewCallbackHandler` on the same ledger records the calls of models, with their tokens. */
  readonly isTold: boolean
}

export interface WriteDrafts {
  readonly drafts: readonly BufferedEvent[]
  /** How many of them come after the one that carries the writes. */
  readonly after: number
  readonly stepId?: string | undefined
}

/** Events for writes of a checkpoint that is not in the record (yet). */
export const earlyDrafts = (
  checkpointId: string,
  { taskId, writes }: Pick<WritesGiven, 'taskId' | 'writes'>,
): WriteDrafts => ({
  drafts: [{ type: PENDING_WRITES, payload: { taskId, ...pendingFields(writes), checkpointId } }],
  after: 0,
})

/**
 * The events for one call of `putWrites`: a step with its end, a question, a failure, or writes that no step stands
 * for. The line is brought on accordingly.
 */
export function writeDrafts(saved: Saved, given: WritesGiven): WriteDrafts {
  const { line, taskId, writes } = given
  if (taskId === NULL_TASK) return answer(given)
  const task = findTask(saved.ready, taskId, {
    ns: given.ns,
    step: saved.metadata.step + 1,
    checkpointId: saved.id,
  })
  if (!task && isUpdate(taskId, saved.id)) return answer(given)
  const has = (channel: string): boolean => writes.some((write) => write.channel === channel)
  const isSpecial = writes.some(({ index }) => index < 0)
  const regular = isSpecial ? writes.filter(({ index }) => index >= 0) : writes
  const isFailure = isSpecial && has(ERROR)
  if (!isFailure && !has(INTERRUPT) && regular.length === 0) return answer(given)
  const begun = beginStep(saved, task, given)
  const isAborted = isFailure && (given.isLate || hasFailed(given)) && errorOf(given).name === 'AbortError'
  if (isFailure && !isAborted) return failure(given, begun, has(ERROR_SOURCE))
  const isAsking = isSpecial && has(INTERRUPT)
  if (isAborted ? regular.length === 0 : isAsking && given.isLate) return abortion(given, begun)
  if (isAsking && !isAborted) return question(given, begun)
  const { stepId, attempt, more, start } = begun
  const [only] = start
  // `index` is the place of the task in the one and of its first write in the other.
  if (only && !isSpecial && regular[0]?.index === 0 && task?.index === undefined) {
    addOutput(only.payload, taskId, regular)
    addUsage(only.payload, saved, given)
    endStep(line, stepId, attempt)
    return { drafts: [...resumption(given), wholeDraft(only)], after: 0, stepId }
  }
  const payload: Payload = { stepId, ...more }
  addOutput(payload, taskId, regular)
  addUsage(payload, saved, given)
  const end: BufferedEvent = { type: STEP_COMPLETED, payload }
  const special = writes.filter(({ index }) => index < 0)
  const drafts = [
    ...resumption(given),
    ...start,
    ...answersOf(given, stepId),
    ...(isSpecial ? [pending(given, special)] : []),
    end,
  ]
  endStep(line, stepId, attempt)
  return { drafts, after: 0, stepId }
}

/** Adds the usage of a node. The usage of a sub-graph is recorded with the steps of its own run. */
function addUsage(payload: Payload, saved: Saved, { writes, childRunId, isTold }: WritesGiven): void {
  if (!isTold && childRunId === undefined) Object.assign(payload, usageIn(writes, saved))
}

/** Start and end in one (R2): no event is recorded in between. */
const wholeDraft = ({ payload, timestamp = '', causationId }: BufferedEvent): BufferedEvent => ({
  type: STEP_COMPLETED,
  payload,
  causationId,
  beganMs: isoMs(timestamp),
})

/** The step with the checkpoint that it led to: then it ended when that was made. */
export function carrying(
  draft: BufferedEvent,
  checkpoint: Payload,
  { eventId, timestamp, madeMs }: Pick<BufferedEvent, 'eventId' | 'timestamp'> & { readonly madeMs: number },
): BufferedEvent {
  const { type, payload, causationId, runId, beganMs } = draft
  const isTimed = timestamp !== undefined && beganMs !== undefined
  if (isTimed) payload['durationMs'] = Math.max(0, madeMs - beganMs)
  payload['checkpoint'] = checkpoint
  return {
    type,
    causationId,
    runId,
    payload,
    eventId,
    timestamp: timestamp ?? draft.timestamp,
    beganMs: isTimed ? undefined : beganMs,
  }
}

const pending = ({ taskId, writes }: WritesGiven, some = writes): BufferedEvent => ({
  type: PENDING_WRITES,
  payload: { taskId, ...pendingFields(some) },
})

interface BegunStep {
  readonly stepId: string
  readonly attempt: number
  readonly more: { readonly attempt?: number }
  readonly start: readonly BufferedEvent[]
}

/** A task is first heard of when it has ended: it began when its checkpoint was made. */
function beginStep(
  saved: Saved,
  task: ReadyTask | undefined,
  { line, taskId, childRunId }: WritesGiven,
): BegunStep {
  const superstep = saved.superstep + 1
  const name = task?.node ?? 'task'
  const part = task ? (task.index === undefined ? '' : `.i${task.index}`) : `.${taskId.slice(0, 8)}`
  const stepId = formatStepId({ parentStepId: null, name, key: `s${superstep}${part}`, ordinal: 0 })
  const last = line.steps.get(stepId)
  const attempt = last?.isOpen ? last.attempt : (last?.attempt ?? 0) + 1
  const more = attempt > 1 ? { attempt } : {}
  // The framework's own way from the input to the channels is no step of the user's graph.
  if (last?.isOpen || name === '__start__') return { stepId, attempt, more, start: [] }
  const payload: Payload = { stepId, ...more, name, kind: 'node', superstep }
  if (task?.index !== undefined) payload['index'] = task.index
  if (childRunId !== undefined) payload['childRunId'] = childRunId
  const start = {
    type: 'execution.step_started',
    payload,
    timestamp: saved.createdAt,
    causationId: saved.eventId,
  }
  return { stepId, attempt, more, start: [start] }
}

function failure(
  given: WritesGiven,
  { stepId, attempt, more, start }: BegunStep,
  isHandled: boolean,
): WriteDrafts {
  const { line } = given
  const error = errorOf(given)
  const before = resumption(given)
  line.hasFailed = true
  endStep(line, stepId, attempt)
  const after: BufferedEvent[] = [{ type: 'execution.step_failed', payload: { stepId, ...more, error } }]
  // With an open question the run waits for its answer, which runs the failed node again.
  if (!isHandled && line.pauses.size > 0) after.push(paused(line))
  else if (!isHandled && line.status !== 'failed') {
    after.push({ type: 'system.workflow_failed', payload: { error } })
    line.status = 'failed'
  }
  return { drafts: [...before, ...start, pending(given), ...after], after: after.length }
}

/**
 * The framework aborts the other nodes of a superstep in which one fails, and all nodes of an aborted invocation. They have
 * not failed, and their open questions will not be answered.
 */
function abortion(given: WritesGiven, { stepId, attempt, more, start }: BegunStep): WriteDrafts {
  endStep(given.line, stepId, attempt)
  const stopped = { type: 'execution.step_stopped', payload: { stepId, ...more, reason: 'aborted' } }
  return { drafts: [...start, pending(given), stopped], after: 1 }
}

function endStep(line: RunBuffer, stepId: string, attempt: number): void {
  line.steps.set(stepId, { attempt, isOpen: false })
  for (const [pauseId, of] of line.pauses) if (of === stepId) line.pauses.delete(pauseId)
}

/** A question that is still open is asked again, under the same id, when an invocation answers another one. */
function question(given: WritesGiven, { stepId, attempt, more, start }: BegunStep): WriteDrafts {
  const { line, taskId, writes } = given
  const before = [...resumption(given), ...start, ...answersOf(given, stepId)]
  line.steps.set(stepId, { attempt, isOpen: true })
  const asked = writes
    .filter(({ channel }) => channel === INTERRUPT)
    .flatMap(({ value }) => (Array.isArray(value) ? (value as unknown[]) : [value]))
  const after: BufferedEvent[] = []
  for (const [at, each] of asked.entries()) {
    const pauseId = isObject(each) && typeof each['id'] === 'string' ? each['id'] : `${taskId}.${at}`
    if (line.pauses.has(pauseId)) continue
    line.pauses.set(pauseId, stepId)
    const text = isObject(each) ? (each['value'] ?? null) : each
    after.push({ type: 'ui.input_requested', payload: { pauseId, stepId, ...more, question: text } })
  }
  after.push(paused(line))
  return { drafts: [...before, pending(given), ...after], after: after.length }
}

function paused(line: RunBuffer): BufferedEvent {
  line.status = 'paused'
  return { type: 'system.workflow_paused', payload: { pauseIds: [...line.pauses.keys()] } }
}

/** Drafts for the input of an invocation: input, an update, or the answer to the named or only question. */
function answer(given: WritesGiven): WriteDrafts {
  const { line, taskId, writes } = given
  const resumed = writes.find(({ channel }) => channel === RESUME)
  const after: BufferedEvent[] = []
  if (resumed && line.pauses.has(taskId)) after.push(received(line, taskId, lastOf(resumed.value)))
  else if (resumed && taskId === NULL_TASK && line.pauses.size === 1)
    for (const pauseId of line.pauses.keys()) after.push(received(line, pauseId, resumed.value))
  if (resumed && line.status !== 'running') after.push(takenUp(line))
  line.signal = given.signal
  return { drafts: [pending(given), ...after], after: after.length }
}

/** A task that was given an answer writes all that it has so far, the newest last. */
function answersOf({ line, writes }: WritesGiven, stepId: string): readonly BufferedEvent[] {
  const resumed = writes.findLast(({ channel }) => channel === RESUME)
  if (!resumed) return []
  const open = [...line.pauses].filter(([, of]) => of === stepId)
  return open.map(([pauseId]) => received(line, pauseId, lastOf(resumed.value)))
}

const lastOf = (value: unknown): unknown => (Array.isArray(value) ? (value.at(-1) as unknown) : value)

function received(line: RunBuffer, pauseId: string, value: unknown): BufferedEvent {
  const stepId = line.pauses.get(pauseId)
  line.pauses.delete(pauseId)
  return { type: 'ui.input_received', payload: { pauseId, stepId, answer: value } }
}

/** Another invocation goes on with a run that had come to a halt. */
function resumption({ line, signal }: WritesGiven): readonly BufferedEvent[] {
  const isOther = line.signal !== signal
  line.signal = signal
  if (isOther) line.hasFailed = false
  return isOther && line.hasOwn && line.status !== 'running' ? [takenUp(line)] : []
}

const hasFailed = ({ line, signal }: WritesGiven): boolean => line.hasFailed && line.signal === signal

function takenUp(line: RunBuffer): BufferedEvent {
  line.status = 'running'
  return { type: 'system.workflow_resumed', payload: {} }
}

/** Writes that `updateState` makes in the name of a node. */
export function isUpdate(taskId: string, checkpointId: string): boolean {
  try {
    return isDerived(taskId, INTERRUPT, checkpointId)
  } catch {
    // An id of the caller's own making is no UUID: nothing is derived from it.
    return false
  }
}

const errorOf = ({ writes }: WritesGiven): { name?: string; message: string } =>
  toError(writes.find(({ channel }) => channel === ERROR)?.value)

function toError(value: unknown): { name?: string; message: string } {
  if (!isObject(value)) return { message: String(value) }
  const { name, message } = value
  return {
    ...(typeof name === 'string' && { name }),
    message: typeof message === 'string' ? message : 'unknown',
  }
}
