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

/** Writes that are in the record, while their checkpoint is not. */
interface EarlyWrites {
  readonly taskId: string
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
  putWrites(checkpointId: string, given: GivenWrites, taskId: string): Handed
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
   * here, so that the record tells them as steps of that checkpoint.
   */
  const held = new Map<string, HeldWrites[]>()
  /** Held too long, so recorded without a step. They are recorded again as what they are when their checkpoint comes. */
  const early = new Map<string, EarlyWrites[]>()

  async function release(checkpointId: string): Promise<void> {
    const [recorded = [], waiting = []] = [early.get(checkpointId), held.get(checkpointId)]
    early.delete(checkpointId)
    held.delete(checkpointId)
    for (const { taskId, writes } of recorded) {
      const line = lines.at(checkpointId)
      if (line?.head) writeTo({ line, opening: [] }, line.head, checkpointId, taskId, writes)
    }
    for (const { given, taskId, settle } of waiting) {
      const handed = new Promise<Wait>((resolve) => resolve(putNow(checkpointId, given, taskId)))
      settle(handed.then((wait) => wait()))
      await handed.catch(() => undefined)
    }
  }

  function hold(checkpointId: string, given: GivenWrites, taskId: string): Wait {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const waiting = held.get(checkpointId) ?? []
    held.set(checkpointId, [...waiting, { given, taskId, settle: resolve }])
    parts.whenIdle()
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
    else noteEarly(checkpointId, { taskId, writes })
    return () => committing
  }

  function noteEarly(checkpointId: string, writes: EarlyWrites): void {
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
    isAhead: (checkpointId) => held.has(checkpointId) || early.has(checkpointId),
    putWrites(checkpointId, given, taskId) {
      if (given.length === 0) return nothing
      return lines.knows(checkpointId)
        ? putNow(checkpointId, given, taskId)
        : hold(checkpointId, given, taskId)
    },
    release,
    async releaseAll() {
      for (const checkpointId of held.keys()) await release(checkpointId)
    },
  }
}
