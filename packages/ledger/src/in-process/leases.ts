import { dueMsOf } from '../store/due.ts'
import { isTerminal, type RunSummary } from '../fold/run-summary.ts'
import type { Ports } from '../ports.ts'
import {
  createQueueSlots,
  pickWaiting,
  type QueueCount,
  type QueueEntry,
  type QueueLimits,
  type QueueUse,
  type WaitingRun,
} from '../store/queue-slots.ts'
import type { RunKey } from '../store/store.ts'
import { busyLease, type Lease, LEASE_STALE_MS, type Leases, lostLease } from '../store/leases.ts'

interface Held {
  lease: Lease
  held: boolean
  beatMs: number
  /** Of a submitted run. */
  entry?: QueueEntry
  /** Place among the waiting runs; undefined when it does not wait. */
  turn?: number | undefined
}

interface InProcessLeases {
  readonly leases: Leases
  current(key: RunKey): { epoch: number; held: boolean } | undefined
  /** The run or another one of its thread is leased. */
  isLeased(key: RunKey, threadId: string | null): boolean
  enqueue(key: RunKey, entry: QueueEntry): void
  dequeue(key: RunKey): void
  /** Removes the name of the thread from the run's lease if it is released. */
  forgetThread(key: RunKey): void
}

interface LeasedRun extends RunKey {
  readonly recordedAt: string
  readonly summary: RunSummary
}

export function createInProcessLeases(
  ports: Pick<Ports, 'now' | 'randomHex'>,
  runs: Iterable<LeasedRun>,
): InProcessLeases {
  const all = new Map<string, Held>()
  /** Times of claims by queue, for rates. */
  const claims = new Map<string, number[]>()
  const owner = `memory-${ports.randomHex(8)}`
  const keyOf = (key: RunKey): string => `${key.workspace}\n${key.runId}`
  const isFree = (held: Held): boolean => !held.held || ports.now() - held.beatMs >= LEASE_STALE_MS

  function current(lease: Lease): Held {
    const held = all.get(keyOf(lease))
    if (!held?.held || held.lease.epoch !== lease.epoch) throw lostLease(lease)
    return held
  }

  const isLeased = ({ workspace, runId }: RunKey, threadId: string | null): boolean =>
    [...all.values()].some(
      ({ held, lease }) =>
        held &&
        lease.workspace === workspace &&
        (lease.runId === runId || (threadId !== null && lease.threadId === threadId)),
    )

  function take({ workspace, runId }: RunKey, threadId: string | null, by = owner): Lease {
    const before = all.get(keyOf({ workspace, runId }))
    const lease: Lease = {
      workspace,
      runId,
      owner: by,
      epoch: (before?.lease.epoch ?? 0) + 1,
      threadId,
      heartbeatAt: new Date(ports.now()).toISOString(),
    }
    all.set(keyOf(lease), { ...before, lease, held: true, beatMs: ports.now() })
    return lease
  }

  const isWaiting = ({ turn, held }: Held): boolean => turn !== undefined && !held

  /** Turns of the lane that the entry joins: behind those of its key, and not before those who wait now. */
  function nextTurn(workspace: string, { agent, queue, key, priority }: QueueEntry): number {
    const lane = [...all.values()].filter(
      (held) =>
        isWaiting(held) &&
        held.lease.workspace === workspace &&
        held.entry?.agent === agent &&
        held.entry.queue === queue &&
        held.entry.priority === priority,
    )
    const turns = lane.map(({ turn = 0 }) => turn)
    const ofKey = lane.filter(({ entry }) => entry?.key === key).map(({ turn = 0 }) => turn)
    const lowest = turns.length === 0 ? 0 : Math.min(...turns)
    return Math.max(lowest, ...ofKey.map((turn) => turn + 1))
  }

  /** An earlier run of the thread has not ended; one that is delayed does not count before its time. */
  function isBehind(run: LeasedRun): boolean {
    const { threadId } = run.summary
    if (threadId === null) return false
    for (const other of runs) {
      if (other === run) return false
      const held = all.get(keyOf(other))
      if (
        other.workspace === run.workspace &&
        other.summary.threadId === threadId &&
        !isTerminal(other.summary.status) &&
        held &&
        (!other.summary.waiting || held.turn !== undefined)
      )
        return true
    }
    return false
  }

  /** Submitted runs whose time has come get their turn. */
  function promote(workspace: string, agents: readonly string[], nowMs: number): number | null {
    const delayed = [...all.values()].filter(
      ({ lease, held, entry, turn }) =>
        !held &&
        lease.workspace === workspace &&
        turn === undefined &&
        entry?.notBeforeMs != null &&
        agents.includes(entry.agent),
    )
    const times: number[] = []
    for (const held of delayed) {
      const entry = held.entry as QueueEntry
      const notBeforeMs = entry.notBeforeMs as number
      if (notBeforeMs > nowMs) times.push(notBeforeMs)
      else {
        held.turn = nextTurn(workspace, entry)
        held.entry = { ...entry, notBeforeMs: null }
      }
    }
    return times.length === 0 ? null : Math.min(...times)
  }

  function useOf(workspace: string, { queue, rate }: QueueLimits, nowMs: number): QueueUse {
    const held = new Map<string, number>()
    for (const each of all.values())
      if (each.held && each.lease.workspace === workspace && each.entry?.queue === queue)
        held.set(each.entry.key, (held.get(each.entry.key) ?? 0) + 1)
    const key = `${workspace}\n${queue}`
    const recent = (claims.get(key) ?? []).filter((at) => at > nowMs - (rate?.perMs ?? 0))
    claims.set(key, recent)
    return { queue, held, claimedMs: recent }
  }

  return {
    current(key) {
      const held = all.get(keyOf(key))
      return held && { epoch: held.lease.epoch, held: held.held }
    },
    isLeased,
    enqueue(key, entry) {
      const lease = { ...key, owner: '', epoch: 0, threadId: null, heartbeatAt: '' }
      const turn = entry.notBeforeMs === null ? nextTurn(key.workspace, entry) : undefined
      all.set(keyOf(key), { lease, held: false, beatMs: 0, ...all.get(keyOf(key)), entry, turn })
    },
    dequeue(key) {
      const held = all.get(keyOf(key))
      if (!held?.entry) return
      held.turn = undefined
      held.entry = { ...held.entry, notBeforeMs: null }
    },
    forgetThread(key) {
      const held = all.get(keyOf(key))
      if (held && !held.held) held.lease = { ...held.lease, threadId: null }
    },
    leases: {
      async acquire({ workspace, runId }, threadId = null, options = {}) {
        const before = all.get(keyOf({ workspace, runId }))
        if (before && !isFree(before)) throw busyLease(runId, 'another owner is working on it')
        const threads = new Set([threadId, ...(options.alsoThreads ?? [])])
        for (const other of threadId === null ? [] : all.values()) {
          const { lease, held } = other
          if (!held || lease.workspace !== workspace || lease.runId === runId) continue
          if (!threads.has(lease.threadId)) continue
          if (!isFree(other)) throw busyLease(runId, `run ${lease.runId} is working on thread ${threadId}`)
          other.held = false
        }
        return take({ workspace, runId }, threadId, options.owner)
      },
      async claim({ workspace, agents, nowMs, limit, limits = [], except = [], orphans = false }) {
        const delayedMs = promote(workspace, agents, nowMs)
        const slots = createQueueSlots(
          limits,
          limits.map((limit) => useOf(workspace, limit, nowMs)),
          nowMs,
        )
        const due = [...runs].flatMap((run) => {
          const { summary, recordedAt } = run
          if (run.workspace !== workspace || !agents.includes(summary.agent ?? '')) return []
          const isOrphan = orphans && summary.status === 'running' && summary.parentRunId === null
          const dueMs = isOrphan ? Date.parse(recordedAt) : dueMsOf(summary, recordedAt)
          return dueMs === null ? [] : [{ run, dueMs }]
        })
        due.sort((a, b) => a.dueMs - b.dueMs)
        const leases: Lease[] = []
        for (const { run, dueMs } of due) {
          if (dueMs > nowMs || leases.length >= limit) break
          // Only runs that were submitted or leased before: others were never run here.
          const before = all.get(keyOf(run))
          if (except.includes(run.runId) || !before) continue
          if (isLeased(run, run.summary.threadId)) continue
          // A run past its deadline needs no slot to fail.
          const { entry } = before
          if (entry && !run.summary.waiting && !slots.take(entry, false)) continue
          leases.push(take(run, run.summary.threadId))
        }
        const rows = [...runs].flatMap((run): WaitingRun[] => {
          const { entry, turn, held } = all.get(keyOf(run)) ?? {}
          if (held !== false || !entry || turn === undefined || run.workspace !== workspace) return []
          if (!agents.includes(entry.agent) || except.includes(run.runId)) return []
          const { runId } = run
          const { queue, key, priority } = entry
          const isBlocked = isBehind(run) || isLeased(run, run.summary.threadId)
          return [{ runId, queue, key, priority, turn, isBlocked }]
        })
        for (const { runId, queue } of pickWaiting(rows, slots, limit - leases.length)) {
          const threadId = [...runs].find((run) => run.runId === runId)?.summary.threadId ?? null
          leases.push(take({ workspace, runId }, threadId))
          claims.get(`${workspace}\n${queue}`)?.push(nowMs)
        }
        const times = [due.find(({ dueMs }) => dueMs > nowMs)?.dueMs, delayedMs, slots.retryMs].filter(
          (ms) => ms != null,
        )
        return { leases, nextDueMs: times.length === 0 ? null : Math.min(...times) }
      },
      async queues(workspace) {
        const counts = new Map<string, { -readonly [K in keyof QueueCount]: QueueCount[K] }>()
        for (const { lease, held, entry, turn } of all.values()) {
          const isDelayed = !held && typeof entry?.notBeforeMs === 'number'
          if (!entry || lease.workspace !== workspace || (!held && !isDelayed && turn === undefined)) continue
          const { queue, agent } = entry
          const key = `${queue}\n${agent}`
          const count = counts.get(key) ?? { queue, agent, waiting: 0, delayed: 0, running: 0 }
          if (held) count.running++
          else if (isDelayed) count.delayed++
          else count.waiting++
          counts.set(key, count)
        }
        return [...counts.values()]
      },
      async renew(lease) {
        current(lease).beatMs = ports.now()
      },
      async release(lease) {
        current(lease).held = false
      },
      async list() {
        return [...all.values()]
          .filter((held) => held.held)
          .map((held) => ({
            ...held.lease,
            heartbeatAt: new Date(held.beatMs).toISOString(),
            state: isFree(held) ? ('stale' as const) : ('alive' as const),
          }))
      },
    },
  }
}
