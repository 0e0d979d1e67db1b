import { findBelow, findRun } from '../store/find-runs.ts'
import { asOwn } from '../catalogue/catalogue.ts'
import { auditEvent } from '../append/audit-run.ts'
import { writeAudited } from '../append/audited-change.ts'
import { readCursors } from '../store/cursors.ts'
import { missingRun } from '../check-options.ts'
import { CHECKPOINT_KEYS, CHECKPOINT_TYPES, checkpointOf } from '../fold/checkpoint.ts'
import { isTerminal } from '../fold/run-summary.ts'
import { rangeOf, toPairs } from '../removal/removed-range.ts'
import type { StoredRun } from '../store/store.ts'
import type { GcParts } from './gc.ts'
import { findHold } from './find-hold.ts'
import { type Hold, readHolds } from './holds.ts'
import {
  keepsAll,
  nameOfPolicy,
  planStates,
  type StateEntry,
  type StateFacts,
  type StatePolicy,
} from './plan-states.ts'
import { sweepValues } from './sweep-values.ts'

/** Cached checkpoints of a thread: read once, afterwards only new ones. */
interface KnownThread {
  readonly runs: Map<string, StoredRun>
  entries: StateEntry[]
  /** Events whose payloads went since shared values were last looked through. */
  gone: number
}

const MAX_THREADS = 100
/** Limit of attempts if holds or forks are added concurrently; the next checkpoint tries again. */
const ATTEMPTS = 10
const PAGE = 500
/** Runs of a thread that are looked through for new ones at a time, newest first. */
const NEWEST_RUNS = 20
/** Scanning a thread's values costs as much as it holds, so it waits until this share of its events was deleted. */
const SWEEP_SHARE = 0.25

const NOBODY = { forks: [], held: new Set<string>(), seenPosition: Number.MAX_SAFE_INTEGER }

export type StateRetention = (runId: string, policy: StatePolicy) => Promise<number>

/** Deletes the states that a policy no longer keeps, in the thread of a run (R10); returns how many. */
export function createStateRetention(parts: GcParts): StateRetention {
  const { store, reader, runs, ports, workspace } = parts
  const threads = new Map<string, KnownThread>()
  const turns = new Map<string, Promise<number>>()

  /** Reads the checkpoints of a run after the last cached one. */
  async function readEntries(run: StoredRun, afterSeq: number): Promise<StateEntry[]> {
    const { runId } = run.summary
    const found: StateEntry[] = []
    let events: StateEntry['events'][number][] = []
    for (let after = afterSeq; ; ) {
      const range = { afterSeq: after, limit: PAGE, types: CHECKPOINT_TYPES }
      const page = await store.readRun({ workspace, runId }, range)
      for (const stored of page) {
        after = stored.seq
        if (stored.erased) continue
        const event = await reader.toPartialEvent(stored, CHECKPOINT_KEYS)
        const checkpoint = checkpointOf(event)
        // A step inside a step changes no state of the graph.
        const own = asOwn(event)
        const stepId = own?.eventType === 'execution.step_completed' ? own.payload.stepId : undefined
        if (!checkpoint && stepId?.includes('/')) continue
        events.push(stored)
        if (!checkpoint) continue
        const { seq, baseSeq, state, from, createdAt } = checkpoint
        const { position, pruned, hash } = stored
        const source = state ? undefined : from
        found.push({
          runId,
          seq,
          position,
          hash,
          createdMs: Date.parse(createdAt),
          baseSeq,
          from: source,
          events,
          pruned,
        })
        events = []
      }
      if (page.length < PAGE) return found
    }
  }

  async function open(run: StoredRun): Promise<KnownThread> {
    const { runId, threadId } = run.summary
    const name = nameOf(run)
    const known = threads.get(name)
    if (!known) {
      const thread: KnownThread = { runs: new Map(), entries: [], gone: 0 }
      if (threadId === null) await catchUpThread(thread, run)
      // Child runs have states of their own, which do not count in the window of the thread.
      else
        for await (const each of runs.allRuns({ threadIds: parts.ledger.identity(threadId).names }))
          if (each.summary.parentRunId === run.summary.parentRunId) await catchUpThread(thread, each)
      threads.set(name, thread)
      const [oldest] = threads.keys()
      if (threads.size > MAX_THREADS && oldest !== undefined) threads.delete(oldest)
      return thread
    }
    const open = [...known.runs.values()].filter(({ summary }) => !isTerminal(summary.status))
    for (const { summary } of open.filter((each) => each.summary.runId !== runId)) {
      const now = await findRun(store, { workspace, runId: summary.runId })
      if (now) await catchUpThread(known, now)
    }
    if (threadId !== null) await catchUpTurns(known, run, threadId)
    await catchUpThread(known, run)
    return known
  }

  /** Turns that were taken since without a deletion, also by others: the states that are kept may continue theirs. */
  async function catchUpTurns(known: KnownThread, run: StoredRun, threadId: string): Promise<void> {
    const { runId, parentRunId } = run.summary
    const query = { workspace, threadIds: parts.ledger.identity(threadId).names, limit: NEWEST_RUNS }
    let cursor: string | undefined
    do {
      const page = await store.findRuns({ ...query, cursor })
      const unknown = page.runs.filter(
        ({ summary }) =>
          summary.parentRunId === parentRunId && summary.runId !== runId && !known.runs.has(summary.runId),
      )
      for (const each of unknown) await catchUpThread(known, each)
      cursor = unknown.length > 0 ? (page.next ?? undefined) : undefined
    } while (cursor !== undefined)
  }

  async function catchUpThread(thread: KnownThread, run: StoredRun): Promise<void> {
    const { runId } = run.summary
    const last = thread.entries.findLast((entry) => entry.runId === runId)?.seq ?? run.forkOf?.seq ?? 0
    if (last < run.seq) thread.entries.push(...(await readEntries(run, last)))
    thread.entries.sort((a, b) => a.position - b.position)
    thread.runs.set(runId, run)
  }

  const factsOf = ({
    entries,
    runs: known,
  }: KnownThread): Pick<StateFacts, 'nowMs' | 'entries' | 'runs'> => ({
    nowMs: ports.now(),
    entries,
    runs: new Map(
      [...known].map(([runId, { summary, forkOf }]) => [
        runId,
        { isOver: isTerminal(summary.status), forkOf },
      ]),
    ),
  })

  async function tryOnce(thread: KnownThread, policy: StatePolicy): Promise<number | null> {
    // In most cases nothing is to be deleted, and that is known without a read.
    const open = planStates(policy, { ...factsOf(thread), ...NOBODY })
    if (open.marked.length + open.blank.length === 0) return 0
    const { holds, seq: expectedSeq } = await readHolds(parts.ledger)
    const all = [...thread.runs.values()]
    const below = await findBelow(store, workspace, [...thread.runs.keys()])
    const forks = below
      .filter(({ summary }) => summary.status !== 'deleted')
      .flatMap(({ forkOf }) => forkOf ?? [])
    const cursors = await readCursors(store.slots, workspace)
    const { marked, blank } = planStates(policy, {
      ...factsOf(thread),
      forks,
      held: await heldAmong(all, holds),
      seenPosition: Math.min(Number.MAX_SAFE_INTEGER, ...cursors.map(({ position }) => position)),
    })
    if (marked.length + blank.length === 0) return 0
    const runIds = [...new Set([...marked, ...blank].map(({ runId }) => runId))]
    const ranges = runIds.map((runId) => {
      const marks = marked.filter((entry) => entry.runId === runId)
      const blanks = blank.filter((entry) => entry.runId === runId).flatMap((entry) => entry.events)
      return {
        runId,
        ...rangeOf([...marks, ...blanks]),
        rule: nameOfPolicy(policy),
        states: marks.length,
        ...(blanks.length > 0 && { blank: toPairs(blanks.map(({ seq }) => seq)) }),
      }
    })
    const audit = auditEvent('system.range_pruned', { ranges, events: 0 })
    const gone = blank.flatMap((entry) => entry.events.map(({ position }) => position))
    const outcome = await writeAudited(parts, audit, expectedSeq, {
      expect: runIds.map((runId) => ({
        workspace,
        runId,
        forks: below.filter(({ forkOf }) => forkOf?.runId === runId).length,
      })),
      blank: [
        { as: 'pruned', positions: marked.map(({ position }) => position), keepPayloads: true },
        { as: 'pruned', positions: gone },
      ],
    })
    if ('moved' in outcome) return null
    const [isMarked, isGone] = [new Set(marked), new Set(blank)]
    thread.entries = thread.entries
      .filter((entry) => !isGone.has(entry))
      .map((entry) => (isMarked.has(entry) ? { ...entry, pruned: true } : entry))
    thread.gone += gone.length
    return marked.length
  }

  /** A hold of a run holds its child runs too. */
  async function heldAmong(all: readonly StoredRun[], holds: readonly Hold[]): Promise<Set<string>> {
    const held = new Set<string>()
    for (const { summary } of all) if (await findHold(parts, holds, summary)) held.add(summary.runId)
    return held
  }

  async function prune(run: StoredRun, policy: StatePolicy): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      const thread = await open(run)
      const count = await tryOnce(thread, policy)
      if (count === null && attempt < ATTEMPTS) continue
      const events = [...thread.runs.values()].reduce(
        (sum, { seq, forkOf }) => sum + seq - (forkOf?.seq ?? 0),
        0,
      )
      if (thread.gone > 0 && thread.gone >= SWEEP_SHARE * events) {
        thread.gone = 0
        await sweepValues(parts)
        parts.forgetValues()
      }
      return count ?? 0
    }
  }

  return async (runId, policy) => {
    if (keepsAll(policy)) return 0
    const run = await findRun(store, { workspace, runId })
    if (!run) throw missingRun(runId)
    // One after the other in a thread: what is known of it is one list.
    const name = nameOf(run)
    const before = turns.get(name) ?? Promise.resolve(0)
    const turn = before.catch(() => 0).then(() => prune(run, policy))
    turns.set(name, turn)
    try {
      return await turn
    } finally {
      if (turns.get(name) === turn) turns.delete(name)
    }
  }
}

const nameOf = ({ summary: { runId, threadId } }: StoredRun): string =>
  threadId === null ? `run ${runId}` : `thread ${threadId}`
