import { readInherited } from '@clew/ledger'
import type { Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint'
import { conflict } from './conflict.ts'
import {
  appendTo,
  type BufferedEvent,
  flush,
  type Handed,
  type InvocationSignal,
  lastWaiting,
  type RunBuffer,
  nothing,
  openLine,
  takeLast,
  type Wait,
} from './run-buffer.ts'
import type { RunBuffers, LinesParts } from './run-buffers.ts'
import { showsItsEnd, type Versions } from './next-nodes.ts'
import { planCheckpoint } from './plan-checkpoint.ts'
import { forkAt, type ParentStep, type RunOrigin, startDraft, withInput } from './run-drafts.ts'
import type { Saved, TaskWrites } from './saved.ts'
import { STEP_COMPLETED } from './task-writes.ts'
import { carrying, isUpdate, NULL_TASK } from './write-drafts.ts'

export interface PutGiven {
  readonly parentId: string | undefined
  readonly checkpoint: Checkpoint
  readonly metadata: CheckpointMetadata
  readonly newVersions: Versions
  /** Asked for where a run begins. */
  readonly agentName: () => string | undefined
  readonly signal: InvocationSignal
  /** The session that the invocation is part of. */
  readonly session: ParentStep | undefined
  /** The invocation goes on without waiting for the commit. */
  readonly isEager: boolean
}

export interface CheckpointerParts extends LinesParts, RunOrigin {
  readonly lines: RunBuffers
  readonly firstRunId: string
  /** Throws unless going on from this checkpoint is meant. */
  readonly assertMeant: (checkpointId: string) => void
  /** Throws for a value that must not be stored. */
  readonly check: (value: unknown) => void
  /** Writes behind a checkpoint what came before it; undefined when nothing did. */
  readonly released: (checkpointId: string) => Promise<void> | undefined
  /** A checkpoint was committed or refused. */
  readonly ended: () => void
}

export interface Checkpointer {
  /** How many checkpoints are being written. */
  readonly putting: number
  put(given: PutGiven): Handed
  /** A reader has found this namespace empty. */
  noteEmpty(): void
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'stopped'])

/** The checkpoints of one space: each goes to the line it continues, to a new turn, or to a fork. */
export function createCheckpointer(parts: CheckpointerParts): Checkpointer {
  const { ledger, names, ns, lines, firstRunId } = parts
  let emptyReads = 0
  let putting = 0

  function put(given: PutGiven): Handed {
    const { parentId, checkpoint } = given
    const hot = parentId === undefined || parentId === checkpoint.id ? undefined : lines.at(parentId)
    return hot?.head && !hot.isClosed ? putBehind(given, hot.head, hot) : putAnywhere(given)
  }

  async function putAnywhere(given: PutGiven): Promise<Wait> {
    const { parentId, checkpoint } = given
    // Without a step in between the framework puts the checkpoint again that it began with.
    if (parentId === checkpoint.id && (await lines.find(parentId))) return nothing
    const hot = parentId === undefined ? undefined : lines.at(parentId)
    const before = hot?.head ?? (parentId === undefined ? null : await lines.find(parentId))
    if (!before) return putRoot(given)
    const line = await lines.openAt(before)
    if (line) return putBehind(given, before, line)
    parts.assertMeant(before.id)
    return putFork(given, before)
  }

  /** A fork that was opened for writes has no checkpoint yet: the first one goes there, whatever its source. */
  const putBehind = (given: PutGiven, before: Saved, line: RunBuffer): Handed =>
    given.metadata.source === 'input' && line.hasOwn
      ? putTurn(given, before, line)
      : begin(given, line, before, { expectedSeq: line.toldSeq, isStarted: true })

  async function putRoot(given: PutGiven): Promise<Wait> {
    const { checkpoint, metadata } = given
    const waiting = lines.get(firstRunId)
    if (waiting && !waiting.hasOwn)
      return begin(given, waiting, undefined, { expectedSeq: waiting.toldSeq, isStarted: true })
    await parts.whenParentKnown(metadata.parents)
    const isEmpty = lines.isEmpty && !(await ledger.getRun(firstRunId))
    if (!isEmpty && emptyReads > 0 && ns === '' && given.parentId === undefined) throw conflict(parts.thread)
    if (isEmpty) emptyReads = Math.max(0, emptyReads - 1)
    const line = openLine(isEmpty ? firstRunId : names.runId('root', checkpoint.id), {})
    return begin(given, line, undefined, { expectedSeq: 0 })
  }

  /** New input begins a run; the one before it, where it was not over, is stopped in the same append. */
  async function putTurn(given: PutGiven, before: Saved, from: RunBuffer): Promise<Wait> {
    await parts.whenParentKnown(given.metadata.parents)
    flush(parts, from)
    const isOver = ENDED.has(from.status)
    const reason = 'the thread went on with new input'
    const ahead: BufferedEvent[] = isOver
      ? []
      : [{ type: 'system.workflow_stopped', runId: from.runId, payload: { reason } }]
    const line = openLine(names.runId('turn', before.id), {})
    const expectedSeq = isOver ? 0 : from.toldSeq
    const wait = await begin(given, line, before, { expectedSeq, isTurn: true, ahead })
    from.isClosed = true
    // The buffer is dropped; its state is read again on the next use.
    if (!isOver || line.failure !== undefined) lines.forget(from)
    return async () => {
      try {
        await wait()
      } catch (error) {
        lines.forget(from)
        throw error
      }
      if (from.status === 'paused') await parts.stopBelow(from.runId)
    }
  }

  async function putFork(given: PutGiven, before: Saved): Promise<Wait> {
    await parts.whenParentKnown(given.metadata.parents)
    const runId = names.runId('fork', given.checkpoint.id)
    const tags = await readInherited(ledger, before.runId, before.seq)
    const parentStep = parts.parentStep(runId) ?? given.session
    const { line, draft } = forkAt(before, runId, parts.threadName, { tags, parentStep })
    return begin(given, line, before, { expectedSeq: line.seq, forked: draft })
  }

  /** Plans the checkpoint and hands it to the ledger; answers with how to wait for the commit. */
  function begin(
    given: PutGiven,
    line: RunBuffer,
    before: Saved | undefined,
    how: {
      readonly expectedSeq: number
      readonly isTurn?: boolean
      readonly isStarted?: boolean
      readonly forked?: BufferedEvent
      /** Events of other runs that go with it. */
      readonly ahead?: readonly BufferedEvent[]
    },
  ): Handed {
    const { checkpoint, metadata, newVersions, parentId } = given
    const { isTurn = false, isStarted = false, forked, ahead = [] } = how
    const isBehind = before !== undefined && line.head?.id === before.id
    const writes = isBehind && !isTurn ? writesSince(line.head, before.seq) : []
    const [only] = writes
    const isOther = given.signal === undefined || given.signal !== line.signal
    const isResumed = isStarted && line.hasOwn && line.status !== 'running' && isOther
    /** The end of a step that has not gone out yet can carry the checkpoint that it led to: one event less. */
    const last = isStarted ? lastWaiting(line) : undefined
    const canCarry = last?.type === STEP_COMPLETED
    const plan = planCheckpoint({
      checkpoint,
      metadata,
      newVersions,
      before,
      parentId,
      isTurn,
      isFirst: !isStarted,
      applied: appliedWrites(metadata.source, isBehind ? line.head : before),
      writers: lastOfEach(writes),
      carrier:
        canCarry && !isResumed && only && writes.length === 1
          ? { call: only, payload: last.payload }
          : undefined,
    })
    parts.check(plan.changes)
    const isOver =
      plan.next.length === 0 && metadata.source === 'loop' && showsItsEnd(checkpoint.channel_versions)
    const carrier = canCarry && (!isResumed || isOver) ? takeLast(line) : undefined
    const { payload, timestamp, madeMs } = plan
    const eventId = names.eventId(checkpoint.id)
    const drafts: BufferedEvent[] = [...ahead]
    const startId = isStarted ? undefined : names.startId(line.runId)
    if (forked) drafts.push({ ...withInput(forked, plan.input), eventId: startId })
    else if (!isStarted)
      drafts.push(
        startDraft(parts, {
          eventId: startId,
          agent: given.agentName(),
          parentStep: parts.parentStep(line.runId) ?? given.session,
          input: plan.input,
          previous: before,
        }),
      )
    if (isResumed && !isOver) drafts.push({ type: 'system.workflow_resumed', payload: {} })
    drafts.push(
      carrier
        ? carrying(carrier, payload, { eventId, timestamp, madeMs })
        : { type: 'execution.checkpoint', payload, eventId, timestamp, causationId: startId },
    )
    const seq = line.seq + drafts.length - ahead.length
    if (isOver) drafts.push({ type: 'system.workflow_completed', payload: {}, causationId: eventId })
    const saved = plan.toSaved({ eventId, runId: line.runId, seq })
    putting++
    line.isEager = given.isEager
    const committing = appendTo(parts, line, drafts, how.expectedSeq, ended)
    line.head = saved
    line.hasOwn = true
    line.signal = given.signal
    line.status = isOver ? 'completed' : isResumed || !isStarted || !line.hasOwn ? 'running' : line.status
    line.steps.clear()
    if (isOver) line.pauses.clear()
    lines.remember(line)
    lines.note(saved)
    const wait = (): Promise<unknown> => committing
    return parts.released(checkpoint.id)?.then(() => wait) ?? wait
  }

  function ended(): void {
    putting--
    parts.ended()
  }

  return {
    get putting() {
      return putting
    },
    put,
    noteEmpty: () => void emptyReads++,
  }
}

/** Which of the parent's writes made this checkpoint, where it is not all of them. */
function appliedWrites(source: string, head: Saved | null | undefined): number[] | undefined {
  if (source === 'loop' || !head || head.writes.length === 0) return undefined
  if (source === 'update') {
    const own = head.writes.filter(({ taskId }) => isUpdate(taskId, head.id))
    return own.length > 0 && own.length < head.writes.length ? own.map(({ seq }) => seq) : undefined
  }
  return head.writes.filter(({ taskId }) => taskId === NULL_TASK).map(({ seq }) => seq)
}

const writesSince = (head: Saved | null, after: number): readonly TaskWrites[] =>
  head?.writes.filter(({ seq }) => seq > after) ?? []

/** A task that ran again for the same checkpoint wrote anew: the last call counts. */
function lastOfEach(calls: readonly TaskWrites[]): readonly TaskWrites[] {
  const steps = calls.filter(({ stepId }) => stepId !== undefined)
  return steps.length < 2 ? steps : [...new Map(steps.map((call) => [call.stepId, call])).values()]
}
