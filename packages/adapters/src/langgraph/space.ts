import { randomUUID } from 'node:crypto'
import type { Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint'
import { conflict, toConflict } from './conflict.ts'
import { appendTo, type Draft, flush, type Line, openLine, postTo, takeLast } from './line.ts'
import { createLines, type LinesParts } from './lines.ts'
import { showsItsEnd, type Versions } from './next-nodes.ts'
import { planCheckpoint } from './plan-checkpoint.ts'
import { isOpaque, toPayload } from './rich-values.ts'
import { forkAt, type ParentStep, type RunOrigin, startDraft, withInput } from './run-drafts.ts'
import { type Saved, type TaskWrites, withWrites, type Write } from './saved.ts'
import { toWrites } from './task-writes.ts'
import { carrying, earlyDrafts, isUpdate, NULL_TASK, writeDrafts } from './write-drafts.ts'

const MOST_GRANTED = 4096

export interface SpaceParts extends LinesParts, RunOrigin {
  /** Does something to the space a moment later, when it is its turn. */
  readonly later: (work: (space: Space) => Promise<void>) => void
}

/** Where writes go, with what comes before them. */
interface LineToWrite {
  readonly line: Line
  readonly opening: readonly Draft[]
}

interface HeldWrites {
  readonly given: readonly (readonly [string, unknown])[]
  readonly taskId: string
  readonly settle: (committed: Promise<unknown>) => void
}

/** Waits for the commit of what was handed to the ledger. */
export type Wait = () => Promise<unknown>
/** A promise only where something has to be read first: what is known here is handed over before the call returns. */
export type Handed = Wait | Promise<Wait>

export interface PutGiven {
  readonly parentId: string | undefined
  readonly checkpoint: Checkpoint
  readonly metadata: CheckpointMetadata
  readonly newVersions: Versions
  readonly agent: string | undefined
  readonly parentStep: ParentStep | undefined
}

/** Checkpoints of one namespace of one thread, as far as this process knows them. Calls are made one after the other. */
export interface Space {
  /** Waits for what is under way; what could not be written is forgotten, and then it is false. */
  settle(): Promise<boolean>
  /** The same, and learns what others wrote. */
  refresh(): Promise<void>
  /** The newest checkpoint. */
  latest(): Promise<Saved | null>
  /** Writes down what waits for checkpoints that do not come. */
  release(): Promise<void>
  /** Whether it met this checkpoint before. */
  knows(checkpointId: string): boolean
  readonly firstRunId: string
  /** About how many characters the newest state has. */
  readonly size: number
  find(checkpointId: string): Promise<Saved | null>
  /** Somebody named this checkpoint: going on from it is meant, whatever came after. */
  grant(checkpointId: string): void
  /** Somebody was told that there is nothing here. */
  noteEmpty(): void
  put(given: PutGiven): Handed
  putWrites(checkpointId: string, given: readonly (readonly [string, unknown])[], taskId: string): Handed
  /** The run that is written now, for sub-graphs to hang below. */
  readonly active: Line | undefined
  /** Runs of sub-graphs, by the task that started them. */
  readonly children: Map<string, string>
}

export function createSpace(parts: SpaceParts): Space {
  const { ledger, names, ns } = parts
  const lines = createLines(parts)
  const firstRunId = names.runId('first', '')
  const granted = new Set<string>()
  const children = new Map<string, string>()
  /** Writes that came before their checkpoint, while the one before that was being written. */
  const held = new Map<string, HeldWrites[]>()
  let emptyReads = 0
  let putting = 0

  function assertMeant(checkpointId: string): void {
    if (ns !== '' || granted.has(checkpointId)) return
    throw conflict(parts.thread, checkpointId)
  }

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
    assertMeant(before.id)
    return putFork(given, before)
  }

  /** A fork that was opened for writes has no checkpoint yet: the first one goes there, whatever its source. */
  const putBehind = (given: PutGiven, before: Saved, line: Line): Handed =>
    given.metadata.source === 'input' && line.hasOwn
      ? putTurn(given, before, line)
      : begin(given, line, before, [], { expectedSeq: line.toldSeq, isStarted: true })

  async function putRoot(given: PutGiven): Promise<Wait> {
    const { checkpoint } = given
    const waiting = lines.get(firstRunId)
    if (waiting && !waiting.hasOwn)
      return begin(given, waiting, undefined, [], { expectedSeq: waiting.toldSeq, isStarted: true })
    const isEmpty = lines.isEmpty && !(await ledger.getRun(firstRunId))
    if (!isEmpty && emptyReads > 0 && ns === '' && given.parentId === undefined) throw conflict(parts.thread)
    if (isEmpty) emptyReads = Math.max(0, emptyReads - 1)
    const line = openLine(isEmpty ? firstRunId : names.runId('root', checkpoint.id), {})
    return begin(given, line, undefined, [], { expectedSeq: 0 })
  }

  /** New input begins a run; the one before it, where it was not over, is stopped in the same append. */
  async function putTurn(given: PutGiven, before: Saved, from: Line): Promise<Wait> {
    flush(parts, from)
    const isOver = from.status === 'completed'
    const reason = 'the thread went on with new input'
    const stop: Draft[] = isOver
      ? []
      : [{ type: 'system.workflow_stopped', runId: from.runId, payload: { reason } }]
    const line = openLine(names.runId('turn', before.id), {})
    const expectedSeq = isOver ? 0 : from.toldSeq
    const wait = await begin(given, line, before, stop, { expectedSeq, isTurn: true })
    from.isClosed = true
    // Where it stands now is read again when it is asked for.
    if (!isOver || line.failure !== undefined) lines.forget(from)
    return () =>
      wait().catch((error: unknown) => {
        lines.forget(from)
        throw error
      })
  }

  function putFork(given: PutGiven, before: Saved): Handed {
    const runId = names.runId('fork', given.checkpoint.id)
    const { line, draft } = forkAt(before, runId, parts.threadName)
    return begin(given, line, before, [], { expectedSeq: line.seq, forked: draft })
  }

  /** Plans the checkpoint and hands it to the ledger; answers with how to wait for the commit. */
  function begin(
    given: PutGiven,
    line: Line,
    before: Saved | undefined,
    ahead: readonly Draft[],
    how: { expectedSeq: number; isTurn?: boolean; isStarted?: boolean; forked?: Draft },
  ): Handed {
    const { checkpoint, metadata, newVersions, parentId } = given
    const { isTurn = false, isStarted = false, forked } = how
    const early = line.early.get(checkpoint.id) ?? []
    const isFirst = !isStarted
    const sources = before && !isTurn && line.head?.id === before.id ? line.head.writes : []
    const plan = planCheckpoint({
      checkpoint,
      metadata,
      newVersions,
      before,
      parentId,
      isTurn,
      isFirst,
      early,
      applied: appliedWrites(metadata.source, line.head?.id === before?.id ? line.head : before),
      writers: lastOfEach(sources.filter(({ seq }) => before && seq > before.seq)),
    })
    const { next } = plan.payload as { next: string[] }
    const isOver = next.length === 0 && metadata.source === 'loop' && showsItsEnd(checkpoint.channel_versions)
    const opening = isStarted
      ? []
      : [
          forked
            ? withInput(forked, plan.input)
            : startDraft(parts, { ...given, input: plan.input, previous: before }),
        ]
    const isResumed = isStarted && line.hasOwn && line.status !== 'running'
    const isResumedHere = isResumed && !isOver
    const carrier = isStarted && !isResumedHere ? carrierOf(line) : undefined
    const place = { eventId: names.eventId(checkpoint.id), timestamp: plan.timestamp }
    const drafts: Draft[] = [
      ...ahead,
      ...opening,
      ...(isResumedHere ? [{ type: 'system.workflow_resumed', payload: {} }] : []),
      carrier
        ? carrying(carrier, plan.payload, place)
        : { type: 'execution.checkpoint', payload: plan.payload, ...place },
      ...(isOver ? [{ type: 'system.workflow_completed', payload: {} }] : []),
    ]
    const seq = line.seq + drafts.length - ahead.length - (isOver ? 1 : 0)
    const saved = plan.toSaved({ runId: line.runId, seq })
    const committing = appendTo(parts, line, drafts, how.expectedSeq)
    line.head = saved
    line.hasOwn = true
    line.status = isOver ? 'completed' : 'running'
    line.steps.clear()
    if (isOver) line.pauses.clear()
    line.early.delete(checkpoint.id)
    lines.remember(line)
    lines.note(saved)
    putting++
    const ended = (): void => {
      putting--
      if (held.size > 0) parts.later((space) => (putting === 0 ? space.release() : Promise.resolve()))
    }
    committing.then(ended, ended)
    const wait = waitFor(committing, line)
    return held.has(checkpoint.id) ? release(checkpoint.id).then(() => wait) : wait
  }

  /** The end of a step that has not gone out yet can carry the checkpoint that it led to: one event less. */
  function carrierOf(line: Line): Draft | undefined {
    const last = line.outbox.at(-1)?.drafts.at(-1)
    return last?.type === 'execution.step_completed' ? takeLast(line) : undefined
  }

  /** Writes what was held for a checkpoint: behind it, or by itself when the checkpoint does not come. */
  async function release(checkpointId: string): Promise<void> {
    const waiting = held.get(checkpointId)
    if (!waiting) return
    held.delete(checkpointId)
    for (const { given, taskId, settle: tell } of waiting) {
      const handed = new Promise<Wait>((resolve) => resolve(putWritesNow(checkpointId, given, taskId)))
      tell(handed.then((wait) => wait()))
      await handed.catch(() => undefined)
    }
  }

  /** Which of the parent's writes made this checkpoint, where it is not all of them. */
  function appliedWrites(source: string, head: Saved | null | undefined): number[] | undefined {
    if (!head || head.writes.length === 0 || source === 'loop') return undefined
    if (source === 'update') {
      const own = head.writes.filter(({ taskId }) => isUpdate(taskId, head.id))
      return own.length > 0 && own.length < head.writes.length ? own.map(({ seq }) => seq) : undefined
    }
    return head.writes.filter(({ taskId }) => taskId === NULL_TASK).map(({ seq }) => seq)
  }

  function putWrites(
    checkpointId: string,
    given: readonly (readonly [string, unknown])[],
    taskId: string,
  ): Handed {
    if (given.length === 0) return nothing
    return putting === 0 || lines.knows(checkpointId)
      ? putWritesNow(checkpointId, given, taskId)
      : putWritesSoon(checkpointId, given, taskId)
  }

  async function putWritesSoon(
    checkpointId: string,
    given: readonly (readonly [string, unknown])[],
    taskId: string,
  ): Promise<Wait> {
    if (await lines.isThere(checkpointId)) return putWritesNow(checkpointId, given, taskId)
    // The framework puts a checkpoint when the one before is committed, and runs its nodes in the meantime.
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const waiting = held.get(checkpointId) ?? []
    held.set(checkpointId, [...waiting, { given, taskId, settle: resolve }])
    return () => promise
  }

  function putWritesNow(
    checkpointId: string,
    given: readonly (readonly [string, unknown])[],
    taskId: string,
  ): Handed {
    const writes = toWrites(given, (value, channel) => toPayload(value, channel))
    const hot = lines.at(checkpointId)
    return hot?.head && !hot.isClosed
      ? writeTo({ line: hot, opening: [] }, hot.head, checkpointId, taskId, writes)
      : putWritesAnywhere(checkpointId, taskId, writes)
  }

  async function putWritesAnywhere(
    checkpointId: string,
    taskId: string,
    writes: readonly Write[],
  ): Promise<Wait> {
    const saved = lines.at(checkpointId)?.head ?? (await lines.find(checkpointId))
    const where = saved ? await lineForWrites(saved) : lineForEarly()
    return writeTo(where, saved, checkpointId, taskId, writes)
  }

  function writeTo(
    { line, opening }: LineToWrite,
    saved: Saved | null,
    checkpointId: string,
    taskId: string,
    writes: readonly Write[],
  ): Wait {
    const parted = { line, taskId, writes, childRunId: children.get(taskId), ns }
    const { drafts, after, stepId } = saved
      ? writeDrafts(saved, names.eventId(saved.id), parted)
      : earlyDrafts(checkpointId, parted)
    const all = [...opening, ...drafts]
    const call: TaskWrites = { runId: line.runId, seq: line.seq + all.length - after, taskId, writes, stepId }
    const isQuiet =
      stepId !== undefined && opening.length === 0 && !writes.some(({ value }) => isOpaque(value))
    const committing = isQuiet ? postTo(parts, line, all) : appendTo(parts, line, all, line.toldSeq)
    lines.remember(line)
    if (saved && line.head) line.head = withWrites(line.head, call)
    else line.early.set(checkpointId, [...(line.early.get(checkpointId) ?? []), call])
    return waitFor(committing, line)
  }

  async function lineForWrites(saved: Saved): Promise<LineToWrite> {
    const line = await lines.openAt(saved)
    if (line) return { line, opening: [] }
    assertMeant(saved.id)
    const { line: fork, draft } = forkAt(saved, names.runId('fork', randomUUID()), parts.threadName)
    return { line: fork, opening: [draft] }
  }

  function lineForEarly(): LineToWrite {
    const line = lines.newest() ?? lines.get(firstRunId)
    if (line?.failure !== undefined) throw toConflict(line.failure, parts.thread)
    if (line) return { line, opening: [] }
    return { line: openLine(firstRunId, { status: 'running' }), opening: [startDraft(parts, {})] }
  }

  const waitFor = (committing: Promise<unknown>, line: Line) => (): Promise<unknown> =>
    committing.then(undefined, (error: unknown) => {
      throw toConflict(line.failure ?? error, parts.thread)
    })

  return {
    children,
    firstRunId,
    get active() {
      return lines.newest()
    },
    get size() {
      return lines.newest()?.head?.size ?? 0
    },
    knows: lines.knows,
    settle: lines.settle,
    refresh: lines.refresh,
    find: lines.find,
    async latest() {
      const line = lines.newest()
      return line ? lines.headOf(line) : null
    },
    noteEmpty: () => void emptyReads++,
    grant(checkpointId) {
      if (lines.newest()?.head?.id === checkpointId) return
      granted.add(checkpointId)
      for (const oldest of granted) {
        if (granted.size <= MOST_GRANTED) break
        granted.delete(oldest)
      }
    },
    put,
    putWrites,
    async release() {
      for (const checkpointId of held.keys()) await release(checkpointId)
    },
  }
}

const nothing = (): Promise<unknown> => Promise.resolve()

/** A task that ran again for the same checkpoint wrote anew: the last call counts. */
function lastOfEach(calls: readonly TaskWrites[]): TaskWrites[] {
  return [
    ...new Map(
      calls.filter(({ stepId }) => stepId !== undefined).map((call) => [call.stepId, call]),
    ).values(),
  ]
}
