import { setTimeout as sleep } from 'node:timers/promises'
import { ClewError, type Ledger, type RunSummary } from '@clew/ledger'
import type { GraphRun } from '../langchain/graph-run.ts'
import type { InvocationSignal, LedgerWatermark } from './run-buffer.ts'
import { createLineReader, type LineReader } from './read-line.ts'
import type { CheckpointParents, ParentStep } from './run-drafts.ts'
import { createThreadNamespace, type ThreadNamespace } from './thread-namespace.ts'
import {
  findEvent,
  threadDeletionRunId,
  type NamespaceKey,
  spaceNames,
  threadName,
  threadNames,
} from './namespace-key.ts'
import { assertNoWholeSecret, type SecretsRule } from './whole-secrets.ts'

const MAX_SPACES = 256
const MAX_WAIT_MS = 1000
const MAX_QUIET_WAIT_MS = 10_000
/**
 * An invocation that has put nothing at so many looks in a row is in a node that may take any time. Looks are counted and not
 * milliseconds, since a busy machine lets time pass in which nothing of this process runs.
 */
const QUIET_LOOKS = 20
/** For what an invocation is about to put; on a busy machine that takes long. */
const MAX_PUT_WAIT_MS = 60_000
const LOOK_MS = 5
/** Characters of states that are held for threads which may go on. */
const MAX_SIZE = 64 * 1024 * 1024

export interface ThreadNamespaces {
  readonly reader: LineReader
  /** Calls for one namespace run one after the other. Runs `work` synchronously if no call is waiting, and then throws its errors. */
  within<T>(key: NamespaceKey, work: (space: ThreadNamespace) => T | Promise<T>): T | Promise<T>
  /** Where callbacks record events of the graph of a thread. */
  graphRun(thread: string): GraphRun
  /** An invocation puts something. */
  noteWriter(key: NamespaceKey, invocation: RunningInvocation): void
  /**
   * Waits until no other invocation of this process puts anything, ten seconds at most. LangGraph runs a graph to its end whose
   * stream was left, and the next invocation would begin at a checkpoint that is no longer the newest one.
   */
  whenQuiet(key: NamespaceKey, signal: InvocationSignal): Promise<void>
  /**
   * Stops runs of sub-graphs that wait although the run of the thread has ended: with durability `exit` a sub-graph that was
   * answered puts nothing more.
   */
  stopAnswered(thread: string): Promise<void>
  /** The same, after a look at what others wrote and when all that is under way is committed. */
  reading<T>(key: NamespaceKey, work: (space: ThreadNamespace) => T | Promise<T>): Promise<T>
  /** Refuses to go on with a checkpoint of a thread that was deleted since. */
  assertAlive(key: NamespaceKey, checkpointId: string): Promise<void>
  /** Learns whether others wrote. */
  look(): Promise<void>
  /** How often the thread was deleted. */
  deletionCount(thread: string): Promise<number>
  recordThreadDeletion(thread: string): Promise<void>
}

export interface RunningInvocation {
  readonly signal: AbortSignal
  /** One of its writes was refused: it puts no more. */
  hasFailed(): boolean
}

interface Entry {
  readonly thread: string
  readonly space: ThreadNamespace
  readonly life: number
  /** The turn of the watermark at which it knew what others wrote. */
  checkedAt: number
  queue: Promise<unknown>
  waiting: number
}

/** `now` gives the time of what is imported. */
export function createThreadNamespaces(
  ledger: Ledger,
  agent: string,
  secrets: SecretsRule,
  now?: () => number,
): ThreadNamespaces {
  const check = (value: unknown): void => {
    if (secrets === 'refuse' && !ledger.hasVault) assertNoWholeSecret(ledger.redactor, value, 'ClewSaver')
  }
  const reader = createLineReader(ledger)
  const watermark: LedgerWatermark = { last: -1, turn: 0 }
  const entries = new Map<string, Entry>()
  /** The last invocation of each thread that put something, until another one begins. */
  const writers = new Map<string, RunningInvocation>()
  const lives = new Map<string, { life: number; checkedAt: number }>()

  const keyOf = ({ thread, ns }: NamespaceKey): string => `${thread.length} ${thread} ${ns}`

  async function look(): Promise<void> {
    const [last, newest] = await Promise.all([ledger.lastPosition(), ledger.newestPosition()])
    if (last === watermark.last && last === newest) return
    watermark.turn++
    // Behind transactions still under way more may come, wherever the newest event lies.
    watermark.last = last === newest ? last : -1
  }

  async function deletionCount(thread: string): Promise<number> {
    const known = lives.get(thread)
    if (known && known.checkedAt === watermark.turn) return known.life
    const checkedAt = watermark.turn
    const life = (await ledger.getRun(threadDeletionRunId(thread)))?.events ?? 0
    lives.delete(thread)
    lives.set(thread, { life, checkedAt })
    for (const oldest of lives.keys()) {
      if (lives.size <= MAX_SPACES) break
      lives.delete(oldest)
    }
    return life
  }

  /** An invocation has begun to put, and none of its writes was refused. */
  const isPutting = (thread: string): boolean => writers.get(keyOf({ thread, ns: '' }))?.hasFailed() === false

  /**
   * Waits for the checkpoint in whose superstep a sub-graph was started: with durability `async` the graph around puts it
   * when the one before is committed, and the sub-graph may be faster. With `exit` it comes last, and no invocation is noted.
   */
  async function whenParentKnown({ thread, ns }: NamespaceKey, parents: CheckpointParents): Promise<void> {
    const outerNs = ns.slice(0, Math.max(0, ns.lastIndexOf('|')))
    const checkpointId = ns === '' ? undefined : parents?.[outerNs]
    if (checkpointId === undefined) return
    const outerKey = keyOf({ thread, ns: outerNs })
    const untilMs = Date.now() + MAX_PUT_WAIT_MS
    while (
      isPutting(thread) &&
      entries.get(outerKey)?.space.knows(checkpointId) !== true &&
      Date.now() < untilMs
    )
      await sleep(LOOK_MS)
  }

  /** The run and step of the graph around: the namespace names the task that started it. */
  function parentStep({ thread, ns }: NamespaceKey, childRunId: string): ParentStep | undefined {
    if (ns === '') return undefined
    const cut = ns.lastIndexOf('|')
    const [node = '', taskId] = ns.slice(cut + 1).split(':')
    const outer = entries.get(keyOf({ thread, ns: cut < 0 ? '' : ns.slice(0, cut) }))?.space
    const { runId, head } = outer?.active ?? {}
    if (!outer || runId === undefined) return undefined
    if (taskId !== undefined) outer.children.set(taskId, childRunId)
    return { runId, stepId: head ? `${node}@s${head.superstep + 1}` : undefined, eventId: head?.eventId }
  }

  function open(key: NamespaceKey, life: number): Entry {
    const names = spaceNames(key, life)
    const later = (work: () => Promise<void>): void => void setImmediate(() => void queued(entry, work))
    const parts = {
      ...key,
      ledger,
      reader,
      names,
      threadName: threadName(ledger, key.thread),
      agent,
      parentStep: (runId: string) => parentStep(key, runId),
      whenParentKnown: (parents: CheckpointParents) => whenParentKnown(key, parents),
      stopBelow: (runId: string) => stopWaiting(key.thread, ({ parentRunId }) => parentRunId === runId),
      watermark,
      later,
      check,
      now,
    }
    const space = createThreadNamespace(parts)
    const entry: Entry = {
      thread: key.thread,
      space,
      life,
      checkedAt: -1,
      queue: Promise.resolve(),
      waiting: 0,
    }
    entries.set(keyOf(key), entry)
    let size = 0
    for (const each of entries.values()) size += each.space.size
    for (const [oldest, each] of entries) {
      if (entries.size <= MAX_SPACES && size <= MAX_SIZE) break
      if (each.waiting > 0 || each === entry) continue
      entries.delete(oldest)
      writers.delete(oldest)
      size -= each.space.size
    }
    return entry
  }

  async function enter(key: NamespaceKey): Promise<Entry> {
    const life = await deletionCount(key.thread)
    const known = entries.get(keyOf(key))
    if (known?.life !== life) return open(key, life)
    entries.delete(keyOf(key))
    entries.set(keyOf(key), known)
    return known
  }

  // Writes of this process need no check of other writers: the ledger compares at commit.
  function within<T>(key: NamespaceKey, work: (space: ThreadNamespace) => T | Promise<T>): T | Promise<T> {
    const known = entries.get(keyOf(key))
    if (known) return queued(known, work)
    const opened = look().then(() => enter(key))
    return opened.then((entry) => queued(entry, work))
  }

  async function whenQuiet(key: NamespaceKey, signal: InvocationSignal): Promise<void> {
    const name = keyOf(key)
    const other = writers.get(name)
    if (!other || other.signal === signal) return
    const beganMs = Date.now()
    let quietLooks = 0
    let before: unknown
    while (quietLooks < QUIET_LOOKS && !other.signal.aborted && !other.hasFailed()) {
      const progress = entries.get(name)?.space.progressOf(other.signal) ?? 'coming'
      const limitMs = progress === 'coming' ? MAX_WAIT_MS : MAX_QUIET_WAIT_MS
      if (progress === 'over' || Date.now() - beganMs >= limitMs) break
      quietLooks = typeof progress === 'number' && progress === before ? quietLooks + 1 : 0
      before = progress
      await sleep(LOOK_MS)
    }
    if (writers.get(name) === other) writers.delete(name)
  }

  async function stopAnswered(thread: string): Promise<void> {
    const root = entries.get(keyOf({ thread, ns: '' }))?.space.active
    if (root?.status === 'completed') await stopWaiting(thread, ({ parentRunId }) => parentRunId === null)
  }

  /** Stops runs of sub-graphs that wait for an answer nobody asks for any more, with those below them. */
  async function stopWaiting(thread: string, isLeft: (run: RunSummary) => boolean): Promise<void> {
    const { runs } = await ledger.listRuns({ threadId: threadNames(thread), status: 'paused', limit: 100 })
    const left = new Set<string | null>()
    for (const run of runs.toReversed()) {
      if (!isLeft(run) && !left.has(run.parentRunId)) continue
      const [begun] = await Array.fromAsync(ledger.read(run.runId, { limit: 1 }))
      const { ns } = (begun?.payload['langgraph'] ?? {}) as { readonly ns?: string }
      if (!ns) continue
      left.add(run.runId)
      const stopped = {
        eventType: 'system.workflow_stopped',
        correlationId: run.runId,
        source: { origin: 'agent', runtime: 'langgraph' },
        payload: { reason: 'the graph around it has ended' },
      } as const
      await within({ thread, ns }, (space) => space.tell(run.runId, [stopped]))
    }
  }

  /** A node begins when its checkpoint was handed over here, but that may still be on its way to the space. */
  async function runOf(key: NamespaceKey): Promise<string | undefined> {
    const beganMs = Date.now()
    for (;;) {
      const line = entries.get(keyOf(key))?.space.active
      // One that is completed is that of the turn before.
      if (line && line.status !== 'completed') return line.runId
      const limitMs = isPutting(key.thread) ? MAX_PUT_WAIT_MS : MAX_WAIT_MS
      if (Date.now() - beganMs >= limitMs) return undefined
      await sleep(LOOK_MS)
    }
  }

  async function reading<T>(key: NamespaceKey, work: (space: ThreadNamespace) => T | Promise<T>): Promise<T> {
    await look()
    const entry = await enter(key)
    return queued(entry, async (space) => {
      const checkedAt = watermark.turn
      const isFresh = (await space.settle()) && entry.checkedAt === watermark.turn
      if (!isFresh) {
        await space.refresh()
        entry.checkedAt = checkedAt
      }
      return work(space)
    })
  }

  /** Runs at once if no call is waiting, so that calls of one turn reach the ledger in that turn. */
  function queued<T>(entry: Entry, work: (space: ThreadNamespace) => T | Promise<T>): T | Promise<T> {
    const { space, queue } = entry
    const done = entry.waiting === 0 ? work(space) : queue.then(() => work(space))
    if (!(done instanceof Promise)) return done
    entry.waiting++
    const leave = (): void => void entry.waiting--
    entry.queue = done.then(leave, leave)
    return done
  }

  return {
    reader,
    look,
    within,
    graphRun: (thread) => ({
      runOf: (ns) => runOf({ thread, ns }),
      async append(ns, runId, events) {
        await within({ thread, ns }, (space) => space.tell(runId, events))
      },
    }),
    noteWriter(key, invocation) {
      writers.set(keyOf(key), invocation)
      for (const oldest of writers.keys()) {
        if (writers.size <= MAX_SPACES) break
        writers.delete(oldest)
      }
    },
    whenQuiet,
    stopAnswered,
    reading,
    deletionCount,
    async assertAlive({ thread, ns }, checkpointId) {
      for (let life = (await deletionCount(thread)) - 1; life >= 0; life--)
        if (await findEvent(ledger, spaceNames({ thread, ns }, life), checkpointId)) throw buried(thread)
    },
    async recordThreadDeletion(thread) {
      await look()
      const { runs } = await ledger.listRuns({ threadId: threadNames(thread), limit: 1 })
      if (runs.length === 0) return
      for (const { thread: own, queue } of entries.values()) if (own === thread) await queue
      await ledger.append([
        {
          eventType: 'system.thread_deleted',
          correlationId: threadDeletionRunId(thread),
          source: { origin: 'agent', runtime: 'langgraph' },
          payload: { agent, langgraph: { threadId: thread } },
        },
      ])
      lives.delete(thread)
      for (const [key, { thread: own }] of entries) if (own === thread) entries.delete(key)
    },
  }
}

const buried = (thread: string): ClewError =>
  new ClewError(
    'ended',
    `Thread "${thread.slice(0, 60)}" was deleted while this invocation was running`,
    'Start the thread anew by invoking it without a checkpoint_id; nothing was written.',
    { threadId: thread.slice(0, 60) },
  )
