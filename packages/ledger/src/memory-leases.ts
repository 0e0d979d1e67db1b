import { ClewError } from './errors.ts'
import type { Ports } from './ports.ts'
import type { RunSummary } from './fold/run-summary.ts'
import { dueMsOf } from './due.ts'
import type { Lease, Leases, RunKey } from './store.ts'

/** A lease whose owner has been silent this long may be taken over (R9). */
export const LEASE_STALE_MS = 60_000

export const busyLease = (runId: string, holder: string): ClewError =>
  new ClewError(
    'busy',
    `Run ${runId} cannot be leased: ${holder}`,
    'Wait until it ends, or stop it; a lease of a dead process is free at once, a silent one after 60 s.',
    { runId },
  )

export const lostLease = (lease: Lease): ClewError =>
  new ClewError(
    'stale_epoch',
    `The lease of run ${lease.runId} at epoch ${lease.epoch} is no longer yours`,
    'Stop working on this run here; another process has it.',
    { runId: lease.runId, epoch: lease.epoch },
  )

interface Held {
  lease: Lease
  held: boolean
  beatMs: number
}

export interface MemoryLeases {
  readonly api: Leases
  current(key: RunKey): { epoch: number; held: boolean } | undefined
  /** Somebody holds the run, or another one of its thread. */
  isHeld(key: RunKey, threadId: string | null): boolean
}

/** What is asked of the runs themselves. */
interface LeasedRun extends RunKey {
  readonly recordedAt: string
  readonly summary: RunSummary
}

export function createMemoryLeases(
  ports: Pick<Ports, 'now' | 'randomHex'>,
  runs: Iterable<LeasedRun>,
): MemoryLeases {
  const all = new Map<string, Held>()
  const owner = `memory-${ports.randomHex(8)}`
  const keyOf = (key: RunKey): string => `${key.workspace}\n${key.runId}`
  const isFree = (held: Held): boolean => !held.held || ports.now() - held.beatMs >= LEASE_STALE_MS

  function current(lease: Lease): Held {
    const held = all.get(keyOf(lease))
    if (!held?.held || held.lease.epoch !== lease.epoch) throw lostLease(lease)
    return held
  }

  /** Nobody holds it or its thread, but somebody did: it was run here. */
  function isLeft({ workspace, runId, summary: { threadId } }: LeasedRun): boolean {
    if (all.get(keyOf({ workspace, runId }))?.held !== false) return false
    return (
      threadId === null ||
      ![...all.values()].some(
        ({ held, lease }) => held && lease.workspace === workspace && lease.threadId === threadId,
      )
    )
  }

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
    isHeld: ({ workspace, runId }, threadId) =>
      [...all.values()].some(
        ({ held, lease }) =>
          held &&
          lease.workspace === workspace &&
          (lease.runId === runId || (threadId !== null && lease.threadId === threadId)),
      ),
    api: {
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
          if (!except.includes(run.runId) && isLeft(run)) leases.push(take(run, run.summary.threadId))
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
