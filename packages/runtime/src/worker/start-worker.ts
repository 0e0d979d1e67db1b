import { ClewError, type Ledger, type Lease } from '@clew/ledger'
import { checkCounts } from '../options/check-options.ts'
import { sweep } from '../lifecycle/sweep.ts'
import { assertMode } from '../run/mode.ts'
import { createLookInterval } from './look-interval.ts'
import { createNotifier } from './notifier.ts'
import { createPostponed } from './postponed.ts'
import { createTaking } from './claim-runs.ts'
import { readQueueLimits } from '../work/queues.ts'
import { announceServing } from '../work/serving.ts'
import type { Worker, WorkerAgent, WorkerGraph, WorkerOptions } from './worker.ts'

/** First wait after an error; doubled with each further one. */
const ERROR_MS = 200
const MAX_ERROR_MS = 30_000

/**
 * Goes on with runs that wait for somebody who has their agent: forks, answered questions, sleeps that are over, runs
 * whose process died. Any number of workers may share a store: each run is claimed by one of them (R9).
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { ledger, concurrency = 4, graceMs = 10_000, sweepMs = 15_000, maxCrashes = 5 } = options
  const { onNotice = () => {} } = options
  checkCounts('worker', { concurrency, sweepMs, maxCrashes }, 1)
  checkCounts('worker', { graceMs }, 0)
  assertMode(ledger, 'write')
  assertMode(ledger, 'resume')
  const agents = byName(options.agents)
  const names = [...agents.keys()]
  const leaving = new AbortController()
  const notifier = createNotifier()
  const interval = createLookInterval()
  const postponed = createPostponed()
  const inHand = new Map<string, Promise<void>>()
  const whenIdle: (() => void)[] = []
  const taking = createTaking({
    ledger,
    agents,
    postponed,
    maxCrashes,
    shutdown: { signal: leaving.signal, graceMs },
    onNotice,
  })
  let fault: { readonly error: unknown } | undefined
  let sweptAt = Number.NEGATIVE_INFINITY
  let errors = 0
  let nextDueMs: number | null = null
  /** Ends the announcement that this worker serves its agents. */
  let withdraw: (() => Promise<void>) | undefined

  function take(lease: Lease): void {
    const { runId } = lease
    const work = taking
      .take(lease)
      .catch((error: unknown) => {
        fault ??= { error }
      })
      .finally(() => {
        inHand.delete(runId)
        notifier.notify()
      })
    inHand.set(runId, work)
  }

  /** True when there was nothing to take. */
  async function look(): Promise<boolean> {
    withdraw ??= await announceServing(ledger, names)
    const isSweep = performance.now() - sweptAt >= sweepMs
    if (isSweep) {
      const runIds = await sweep(ledger)
      sweptAt = performance.now()
      if (runIds.length > 0) onNotice({ type: 'swept', runIds })
    }
    const limit = concurrency - inHand.size
    if (limit <= 0) {
      interval.found()
      return false
    }
    const { workspace } = ledger
    const except = postponed.now()
    const limits = await readQueueLimits(ledger)
    const claim = { workspace, agents: names, nowMs: Date.now(), limit, limits, except, orphans: isSweep }
    const claimed = await ledger.leases.claim(claim)
    nextDueMs = claimed.nextDueMs
    claimed.leases.forEach(take)
    const isNothing = claimed.leases.length === 0
    if (isNothing) interval.foundNothing()
    else interval.found()
    return isNothing
  }

  async function tryLook(): Promise<boolean> {
    try {
      const isNothing = await look()
      errors = 0
      return isNothing
    } catch (error) {
      if (error instanceof ClewError && error.code === 'closed') throw error
      errors++
      interval.foundNothing()
      onNotice({ type: 'failed', error: messageOf(error) })
      return false
    }
  }

  /** Until the next sleep is over, the next sweep, or what was postponed may be tried again. */
  function waitMs(): number {
    if (errors > 0) return Math.min(2 ** (errors - 1) * ERROR_MS, MAX_ERROR_MS)
    const now = Date.now()
    const times = [
      sweptAt + sweepMs - performance.now(),
      ...[nextDueMs, postponed.soonest].flatMap((ms) => (ms === null ? [] : [ms - now])),
    ]
    return Math.max(0, Math.min(...times))
  }

  async function loop(): Promise<void> {
    while (!leaving.signal.aborted && !fault) {
      notifier.clear()
      const isNothing = await tryLook()
      if (isNothing && inHand.size === 0) for (const resolve of whenIdle.splice(0)) resolve()
      if (leaving.signal.aborted) break
      const looked = performance.now()
      await notifier.wait(waitMs())
      await notifier.pause(interval.restMs(performance.now() - looked), leaving.signal)
    }
  }

  async function work(): Promise<void> {
    const unwatch = ledger.watch(notifier.notify)
    try {
      await loop()
    } catch (error) {
      if (!(error instanceof ClewError && error.code === 'closed')) throw error
    } finally {
      unwatch()
      leaving.abort()
      await Promise.all(inHand.values())
      // If the store cannot be reached now, the announcement expires by itself.
      await withdraw?.().catch((error: unknown) => onNotice({ type: 'failed', error: messageOf(error) }))
      for (const resolve of whenIdle.splice(0)) resolve()
    }
    if (fault) throw fault.error
  }

  const ended = work()
  // A caller that does not await `ended` gets the error from `stop`.
  ended.catch(() => {})
  return {
    get working() {
      return inHand.size
    },
    idle: () =>
      new Promise((resolve) => {
        whenIdle.push(resolve)
        notifier.notify()
      }),
    async stop() {
      leaving.abort()
      notifier.notify()
      await ended
    },
    ended,
  }
}

function byName(agents: readonly (WorkerAgent | WorkerGraph)[]): ReadonlyMap<string, WorkerAgent['resume']> {
  const found = new Map<string, WorkerAgent['resume']>()
  for (const each of agents) {
    if (found.has(each.name))
      throw new ClewError(
        'ambiguous',
        `Two agents of the worker are named ${each.name}`,
        'Give each its own name: runs know their agent by it.',
        { agent: each.name },
      )
    found.set(
      each.name,
      'withCheckpointer' in each
        ? (ledger: Ledger, runId, given) => each.withCheckpointer(ledger).resume({ runId }, given)
        : (ledger, runId, given) => each.resume(ledger, runId, given),
    )
  }
  if (found.size === 0)
    throw new ClewError('bad_option', 'The worker has no agent', 'Name those whose runs it goes on with.', {})
  return found
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
