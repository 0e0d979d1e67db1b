import { randomUUID } from 'node:crypto'
import { readInherited } from '@clew/ledger'
import { toConflict } from './conflict.ts'
import {
  appendTo,
  type BufferedEvent,
  type Handed,
  type InvocationSignal,
  type RunBuffer,
  nothing,
  openLine,
  postTo,
  type Wait,
} from './run-buffer.ts'
import type { RunBuffers, LinesParts } from './run-buffers.ts'
import { isOpaque } from './rich-values.ts'
import { forkAt, type RunOrigin, startDraft } from './run-drafts.ts'
import { type Saved, type TaskWrites, withWrites, type Write } from './saved.ts'
import { toWrites } from './task-writes.ts'
import { earlyDrafts, ERROR, writeDrafts } from './write-drafts.ts'

type GivenWrites = readonly (readonly [string, unknown])[]

/** Buffer that takes the writes, and the drafts before them. */
interface LineToWrite {
  readonly line: RunBuffer
  readonly opening: readonly BufferedEvent[]
}

/** One call of `putWrites`. */
export interface WriteCall {
  readonly checkpointId: string
  readonly taskId: string
  readonly given: GivenWrites
  readonly signal: InvocationSignal
  /** The invocation was aborted before this call. */
  readonly isLate: boolean
  /** A `ClewCallbackHandler` on the same ledger records the calls of models. */
  readonly isTold: boolean
  /** Throws once a write of the invocation was refused. */
  readonly assertSound: () => void
}

interface HeldWrites {
  readonly call: WriteCall
  readonly settle: (committed: Promise<unknown>) => void
}

/** Writes that are in the record, while their checkpoint is not. */
interface EarlyWrites {
  readonly call: WriteCall
  readonly writes: readonly Write[]
}

/** Checkpoints for which early writes are remembered. Those that never come would otherwise pile up. */
const MAX_EARLY = 256

export interface WriterParts extends LinesParts, RunOrigin {
  readonly lines: RunBuffers
  readonly firstRunId: string
  /** Runs of sub-graphs, by the task that started them. */
  readonly children: ReadonlyMap<string, string>
  /** Throws unless going on from this checkpoint is meant. */
  readonly assertMeant: (checkpointId: string) => void
  /** Throws for a value that must not be stored. */
  readonly check: (value: unknown) => void
  /** Has `releaseAll` called once no checkpoint is on its way. */
  readonly whenIdle: () => void
}

export interface Writer {
  /** Writes are held that came before their checkpoint. */
  readonly isHolding: boolean
  /** There are writes that came before this checkpoint. */
  isAhead(checkpointId: string): boolean
  putWrites(call: WriteCall): Handed
  /** Writes behind a checkpoint what came before it. */
  release(checkpointId: string): Promise<void>
  /** Writes what is held by itself: its checkpoints do not come. */
  releaseAll(): Promise<void>
}

/** The writes of tasks in one space. */
export function createWriter(parts: WriterParts): Writer {
  const { names, ns, lines, children, firstRunId } = parts
  /**
   * The framework puts a checkpoint when the one before is committed, and runs its nodes in the meantime: their writes wait
   * here, so that they are recorded as steps of that checkpoint.
   */
  const held = new Map<string, HeldWrites[]>()
  /** Writes that waited too long and were recorded without a step. They are recorded as steps when their checkpoint comes. */
  const early = new Map<string, EarlyWrites[]>()

  async function release(checkpointId: string): Promise<void> {
    const [recorded = [], waiting = []] = [early.get(checkpointId), held.get(checkpointId)]
    early.delete(checkpointId)
    held.delete(checkpointId)
    for (const { call, writes } of recorded) {
      const line = lines.at(checkpointId)
      if (line?.head) writeTo({ line, opening: [] }, line.head, call, writes)
    }
    for (const { call, settle } of waiting) {
      const handed = new Promise<Wait>((resolve) => {
        // A write was refused in the meantime. The caller has been answered, and what is appended now would be taken for a
        // second invocation by the next one.
        call.assertSound()
        resolve(putNow(call))
      })
      settle(handed.then((wait) => wait()))
      await handed.catch(() => undefined)
    }
  }

  function hold(call: WriteCall): Wait {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const waiting = held.get(call.checkpointId) ?? []
    held.set(call.checkpointId, [...waiting, { call, settle: resolve }])
    parts.whenIdle()
    return () => promise
  }

  function putNow(call: WriteCall): Handed {
    const { checkpointId } = call
    const writes = toWrites(call.given)
    for (const { channel, value } of writes) if (channel !== ERROR) parts.check({ [channel]: value })
    const hot = lines.at(checkpointId)
    return hot?.head && !hot.isClosed
      ? writeTo({ line: hot, opening: [] }, hot.head, call, writes)
      : putAnywhere(call, writes)
  }

  async function putAnywhere(call: WriteCall, writes: readonly Write[]): Promise<Wait> {
    const { checkpointId } = call
    const saved = lines.at(checkpointId)?.head ?? (await lines.find(checkpointId))
    const where = saved ? await lineFor(saved) : lineForEarly()
    return writeTo(where, saved, call, writes)
  }

  function writeTo(
    { line, opening }: LineToWrite,
    saved: Saved | null,
    call: WriteCall,
    writes: readonly Write[],
  ): Wait {
    const { checkpointId, taskId } = call
    const parted = { ...call, line, writes, childRunId: children.get(taskId), ns }
    const { drafts, after, stepId } = saved ? writeDrafts(saved, parted) : earlyDrafts(checkpointId, parted)
    const all = opening.length > 0 ? [...opening, ...drafts] : drafts
    const written: TaskWrites = {
      runId: line.runId,
      seq: line.seq + all.length - after,
      taskId,
      writes,
      stepId,
    }
    // While other nodes of the superstep run, a kill would lose what this one did.
    const isUrgent = line.isEager && (saved?.ready.length ?? 0) > 1
    const isQuiet =
      stepId !== undefined &&
      !isUrgent &&
      opening.length === 0 &&
      !writes.some(({ value }) => isOpaque(value))
    const committing = isQuiet ? postTo(parts, line, all) : appendTo(parts, line, all, line.toldSeq)
    lines.remember(line)
    if (saved && line.head) line.head = withWrites(line.head, written)
    else noteEarly({ call, writes })
    return () => committing
  }

  function noteEarly(writes: EarlyWrites): void {
    const { checkpointId } = writes.call
    early.set(checkpointId, [...(early.get(checkpointId) ?? []), writes])
    for (const oldest of early.keys()) {
      if (early.size <= MAX_EARLY) break
      early.delete(oldest)
    }
  }

  async function lineFor(saved: Saved): Promise<LineToWrite> {
    const line = await lines.openAt(saved)
    if (line) return { line, opening: [] }
    parts.assertMeant(saved.id)
    const tags = await readInherited(parts.ledger, saved.runId, saved.seq)
    const runId = names.runId('fork', randomUUID())
    const parentStep = parts.parentStep(runId)
    const { line: fork, draft } = forkAt(saved, runId, parts.threadName, { tags, parentStep })
    return { line: fork, opening: [draft] }
  }

  function lineForEarly(): LineToWrite {
    const line = lines.newest() ?? lines.get(firstRunId)
    if (line?.failure !== undefined) throw toConflict(line.failure, parts.thread)
    if (line) return { line, opening: [] }
    return { line: openLine(firstRunId, { status: 'running' }), opening: [startDraft(parts, {})] }
  }

  return {
    get isHolding() {
      return held.size > 0
    },
    isAhead: (checkpointId) => held.has(checkpointId) || early.has(checkpointId),
    putWrites(call) {
      if (call.given.length === 0) return nothing
      return lines.knows(call.checkpointId) ? putNow(call) : hold(call)
    },
    release,
    async releaseAll() {
      for (const checkpointId of held.keys()) await release(checkpointId)
    },
  }
}
