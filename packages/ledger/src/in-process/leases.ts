import { dueMsOf } from '../store/due.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import type { Ports } from '../ports.ts'
import type { RunKey } from '../store/store.ts'
import { busyLease, type Lease, LEASE_STALE_MS, type Leases, lostLease } from '../store/leases.ts'

interface Held {
  lease: Lease
  held: boolean
  beatMs: number
}

interface InProcessLeases {
  readonly leases: Leases
  current(key: RunKey): { epoch: number; held: boolean } | undefined
  /** The run or another one of its thread is leased. */
  isLeased(key: RunKey, threadId: string | null): boolean
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
    const lease: Lease = {
      workspace,
      runId,
      owner: by,
      epoch: (all.get(keyOf({ workspace, runId }))?.lease.epoch ?? 0) + 1,
      threadId,
      heartbeatAt: new Date(ports.now()).toISOString(),
    }
    all.set(keyOf(lease), { lease, held: true, beatMs: ports.now() })
    return lease
  }

  return {
    current(key) {
      const held = all.get(keyOf(key))
      return held && { epoch: held.lease.epoch, held: held.held }
    },
    isLeased,
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
      async claim({ workspace, agents, nowMs, limit, except = [], orphans = false }) {
        const waiting = [...runs].flatMap((run) => {
          const { summary, recordedAt } = run
          if (run.workspace !== workspace || !agents.includes(summary.agent ?? '')) return []
          const isOrphan = orphans && summary.status === 'running' && summary.parentRunId === null
          const dueMs = isOrphan ? Date.parse(recordedAt) : dueMsOf(summary, recordedAt)
          return dueMs === null ? [] : [{ run, dueMs }]
        })
        waiting.sort((a, b) => a.dueMs - b.dueMs)
        const leases: Lease[] = []
        for (const { run, dueMs } of waiting) {
          if (dueMs > nowMs || leases.length >= limit) break
          // Only runs that were leased before: others were never run here.
          if (except.includes(run.runId) || !all.has(keyOf(run))) continue
          if (!isLeased(run, run.summary.threadId)) leases.push(take(run, run.summary.threadId))
        }
        return { leases, nextDueMs: waiting.find(({ dueMs }) => dueMs > nowMs)?.dueMs ?? null }
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
