import type { EventInput } from '@clew/ledger'
import { conflict } from './conflict.ts'
import { appendTo, type Handed, type InvocationSignal, type RunBuffer } from './run-buffer.ts'
import { createRunBuffers, type LinesParts } from './run-buffers.ts'
import { createCheckpointer, type PutGiven } from './put-checkpoint.ts'
import { createWriter, type WriteCall } from './put-writes.ts'
import type { RunOrigin } from './run-drafts.ts'
import type { Saved } from './saved.ts'

const MAX_GRANTED = 4096

export interface ThreadNamespaceParts extends LinesParts, RunOrigin {
  /** Does something in the next turn of the event loop, behind the calls made until then. */
  readonly later: (work: () => Promise<void>) => void
  /** Throws for a value that must not be stored; before anything is changed here. */
  readonly check: (value: unknown) => void
}

/** Checkpoints of one namespace of one thread, as far as this process knows them. Calls are made one after the other. */
export interface ThreadNamespace {
  /** Appends events of a run that callbacks reported. */
  tell(runId: string, events: readonly EventInput[]): Promise<unknown>
  /** How far this invocation is: its first write still to come, busy with one, over, or the number of events it has put. */
  progressOf(signal: AbortSignal): 'coming' | 'busy' | 'over' | number
  /** Waits for what is under way; what could not be written is forgotten, and then it is false. */
  settle(): Promise<boolean>
  /** The same, and learns what others wrote. */
  refresh(): Promise<void>
  /** The newest checkpoint. */
  latest(): Promise<Saved | null>
  /** Whether it met this checkpoint before. */
  knows(checkpointId: string): boolean
  /** About how many characters the newest state has. */
  readonly size: number
  find(checkpointId: string): Promise<Saved | null>
  /** The caller named this checkpoint, so that continuing from it is no conflict, whatever came after. */
  grant(checkpointId: string): void
  /** A reader has found this namespace empty. */
  noteEmpty(): void
  put(given: PutGiven): Handed
  putWrites(call: WriteCall): Handed
  /** The run that is written now, for sub-graphs to hang below. */
  readonly active: RunBuffer | undefined
  /** Runs of sub-graphs, by the task that started them. */
  readonly children: Map<string, string>
}

export function createThreadNamespace(parts: ThreadNamespaceParts): ThreadNamespace {
  const { names, ns } = parts
  const lines = createRunBuffers(parts)
  const firstRunId = names.runId('first', '')
  const granted = new Set<string>()
  const children = new Map<string, string>()

  function assertMeant(checkpointId: string): void {
    if (ns !== '' || granted.has(checkpointId)) return
    throw conflict(parts.thread, checkpointId)
  }

  const writer = createWriter({
    ...parts,
    lines,
    firstRunId,
    children,
    assertMeant,
    whenIdle,
  })
  const checkpointer = createCheckpointer({
    ...parts,
    lines,
    firstRunId,
    assertMeant,
    released: (checkpointId) => (writer.isAhead(checkpointId) ? writer.release(checkpointId) : undefined),
    ended: whenIdle,
  })

  /**
   * The framework puts the next checkpoint in the turn in which it hears of the one before. If none is on its way after
   * that turn, held writes are recorded, since callers that wait for them would wait for ever, and aborted invocations have stopped.
   */
  function whenIdle(): void {
    if (checkpointer.putting === 0 && (writer.isHolding || lines.aborted().length > 0))
      parts.later(settleIdle)
  }

  async function settleIdle(): Promise<void> {
    if (checkpointer.putting > 0) return
    await writer.releaseAll()
    for (const line of lines.aborted()) {
      line.status = 'stopped'
      const payload = { reason: 'the invocation was aborted' }
      // A failure stays with the buffer and is thrown to the next caller.
      appendTo(parts, line, [{ type: 'system.workflow_stopped', payload }], line.toldSeq).catch(
        () => undefined,
      )
    }
  }

  function progressOf(signal: AbortSignal): 'coming' | 'busy' | 'over' | number {
    const line = lines.newest()
    if (line?.signal !== signal) return 'coming'
    if (line.status !== 'running' || line.isClosed || line.failure !== undefined) return 'over'
    const isUnderWay = checkpointer.putting > 0 || writer.isHolding || line.pending.size > 0
    return isUnderWay ? 'busy' : line.seq
  }

  const watched = new WeakSet<AbortSignal>()

  /** One listener for each invocation: its signal goes when it ends. */
  function watch(signal: InvocationSignal): void {
    if (!signal || watched.has(signal)) return
    watched.add(signal)
    signal.addEventListener('abort', whenIdle, { once: true })
  }

  return {
    children,
    get active() {
      return lines.newest()
    },
    get size() {
      return lines.newest()?.head?.size ?? 0
    },
    knows: lines.knows,
    progressOf,
    tell(runId, events) {
      const line = lines.get(runId)
      if (!line || line.failure !== undefined) return parts.ledger.append(events)
      const drafts = events.map(({ eventType: type, payload = {}, eventId, causationId, source }) => ({
        type,
        payload,
        eventId,
        causationId,
        source,
      }))
      return appendTo(parts, line, drafts, line.toldSeq)
    },
    settle: lines.settle,
    refresh: lines.refresh,
    find: lines.find,
    async latest() {
      const line = lines.newest()
      return line ? lines.headOf(line) : null
    },
    noteEmpty: checkpointer.noteEmpty,
    grant(checkpointId) {
      if (lines.newest()?.head?.id === checkpointId) return
      granted.add(checkpointId)
      for (const oldest of granted) {
        if (granted.size <= MAX_GRANTED) break
        granted.delete(oldest)
      }
    },
    put(given) {
      watch(given.signal)
      return checkpointer.put(given)
    },
    putWrites(call) {
      watch(call.signal)
      return writer.putWrites(call)
    },
  }
}
