import { randomUUID } from 'node:crypto'
import { readForkTags } from '@clew/ledger'
import { toConflict } from './conflict.ts'
import {
  appendTo,
  type BufferedEvent,
  type Handed,
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

/** Where writes go, with what comes before them. */
interface LineToWrite {
  readonly line: RunBuffer
  readonly opening: readonly BufferedEvent[]
}

interface HeldWrites {
  readonly given: GivenWrites
  readonly taskId: string
  readonly settle: (committed: Promise<unknown>) => void
}

export interface WriterParts extends LinesParts, RunOrigin {
  readonly lines: RunBuffers
  readonly firstRunId: string
  /** Runs of sub-graphs, by the task that started them. */
  readonly children: ReadonlyMap<string, string>
  /** Throws unless going on from this checkpoint is meant. */
  readonly assertMeant: (checkpointId: string) => void
  /** Throws for a value that must not be stored. */
  readonly check: (value: unknown) => void
  /** Whether a checkpoint is being written. */
  readonly isPutting: () => boolean
}

export interface Writer {
  /** Writes are held that came before their checkpoint. */
  readonly isHolding: boolean
  holds(checkpointId: string): boolean
  putWrites(checkpointId: string, given: GivenWrites, taskId: string): Handed
  /** Writes what was held for a checkpoint: behind it, or by itself when the checkpoint does not come. */
  release(checkpointId: string): Promise<void>
  releaseAll(): Promise<void>
}

/** The writes of tasks in one space. */
export function createWriter(parts: WriterParts): Writer {
  const { names, ns, lines, children, firstRunId } = parts
  /** Writes that came before their checkpoint, while the one before that was being written. */
  const held = new Map<string, HeldWrites[]>()

  async function release(checkpointId: string): Promise<void> {
    const waiting = held.get(checkpointId)
    if (!waiting) return
    held.delete(checkpointId)
    for (const { given, taskId, settle: tell } of waiting) {
      const handed = new Promise<Wait>((resolve) => resolve(putNow(checkpointId, given, taskId)))
      tell(handed.then((wait) => wait()))
      await handed.catch(() => undefined)
    }
  }

  async function putSoon(checkpointId: string, given: GivenWrites, taskId: string): Promise<Wait> {
    if (await lines.isThere(checkpointId)) return putNow(checkpointId, given, taskId)
    // The framework puts a checkpoint when the one before is committed, and runs its nodes in the meantime.
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const waiting = held.get(checkpointId) ?? []
    held.set(checkpointId, [...waiting, { given, taskId, settle: resolve }])
    return () => promise
  }

  function putNow(checkpointId: string, given: GivenWrites, taskId: string): Handed {
    const writes = toWrites(given)
    for (const { channel, value } of writes) if (channel !== ERROR) parts.check({ [channel]: value })
    const hot = lines.at(checkpointId)
    return hot?.head && !hot.isClosed
      ? writeTo({ line: hot, opening: [] }, hot.head, checkpointId, taskId, writes)
      : putAnywhere(checkpointId, taskId, writes)
  }

  async function putAnywhere(checkpointId: string, taskId: string, writes: readonly Write[]): Promise<Wait> {
    const saved = lines.at(checkpointId)?.head ?? (await lines.find(checkpointId))
    const where = saved ? await lineFor(saved) : lineForEarly()
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
    const { drafts, after, stepId } = saved ? writeDrafts(saved, parted) : earlyDrafts(checkpointId, parted)
    const all = opening.length > 0 ? [...opening, ...drafts] : drafts
    const call: TaskWrites = { runId: line.runId, seq: line.seq + all.length - after, taskId, writes, stepId }
    const isQuiet =
      stepId !== undefined && opening.length === 0 && !writes.some(({ value }) => isOpaque(value))
    const committing = isQuiet ? postTo(parts, line, all) : appendTo(parts, line, all, line.toldSeq)
    lines.remember(line)
    if (saved && line.head) line.head = withWrites(line.head, call)
    else line.early.set(checkpointId, [...(line.early.get(checkpointId) ?? []), call])
    return () => committing
  }

  async function lineFor(saved: Saved): Promise<LineToWrite> {
    const line = await lines.openAt(saved)
    if (line) return { line, opening: [] }
    parts.assertMeant(saved.id)
    const tags = await readForkTags(parts.ledger, saved.runId, saved.seq)
    const { line: fork, draft } = forkAt(saved, names.runId('fork', randomUUID()), parts.threadName, tags)
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
    holds: (checkpointId) => held.has(checkpointId),
    putWrites(checkpointId, given, taskId) {
      if (given.length === 0) return nothing
      return parts.isPutting() && !lines.knows(checkpointId)
        ? putSoon(checkpointId, given, taskId)
        : putNow(checkpointId, given, taskId)
    },
    release,
    async releaseAll() {
      for (const checkpointId of held.keys()) await release(checkpointId)
    },
  }
}
