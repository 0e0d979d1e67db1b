import { ClewError, isTerminal, type Lease, type Ledger, type RunSummary } from '@clew/ledger'
import { requestPause } from '../lifecycle/request-pause.ts'
import { requestStop } from '../lifecycle/request-stop.ts'
import type { RunResult, StepChange } from '../run/result.ts'
import type { Shutdown } from '../run/run-options.ts'
import { leaseRun } from '../lifecycle/lease-run.ts'
import { deadlineError, failOverdue, isOverdue } from '../work/deadline.ts'
import { countCrashes } from './crashes.ts'
import type { Postponed } from './postponed.ts'
import type { WorkerAgent, WorkerOptions } from './worker.ts'

interface TakingParts {
  readonly ledger: Ledger
  readonly agents: ReadonlyMap<string, WorkerAgent['resume']>
  readonly postponed: Postponed
  readonly maxCrashes: number
  readonly shutdown: Shutdown
  readonly onNotice: NonNullable<WorkerOptions['onNotice']>
}

/** From so many deaths on, a run is kept apart from others of its kind: those who died beside it are not to blame. */
const SUSPECT_CRASHES = 2

export interface RunClaimer {
  /** Goes on with one claimed run until it ends, waits or is handed over. */
  take(lease: Lease): Promise<void>
}

export function createTaking({
  ledger,
  agents,
  postponed,
  maxCrashes,
  shutdown,
  onNotice,
}: TakingParts): RunClaimer {
  /** The suspect that is being run, at most one. */
  let suspect: string | undefined

  /** Undefined if the run is not resumed. */
  async function checkRun(run: RunSummary, lease: Lease): Promise<'go on' | 'suspect' | undefined> {
    if (run.stopRequested) {
      // The stop request still counts if its sender has ended, and a resume would ignore it.
      await release(lease)
      await requestStop(ledger, run.runId)
      return undefined
    }
    if (isOverdue(run)) {
      await fail(run, lease)
      return undefined
    }
    if (run.held) {
      // Its owner died before it had let go of it, or its deadline has come.
      postponed.add(run.runId)
      await release(lease)
      await requestPause(ledger, run.runId)
      return undefined
    }
    if (run.status !== 'interrupted' && run.status !== 'running') return 'go on'
    const crashes = await countCrashes(ledger, run, maxCrashes)
    if (crashes >= maxCrashes) {
      await block(run, lease, crashes)
      return undefined
    }
    if (crashes < SUSPECT_CRASHES) return 'go on'
    if (suspect === undefined) {
      suspect = run.runId
      return 'suspect'
    }
    postponed.add(run.runId)
    await release(lease)
    return undefined
  }

  async function fail(run: RunSummary, lease: Lease): Promise<void> {
    const { runId, agent, threadId, deadlineAt = '' } = run
    if (!(await failOverdue(ledger, run, await leaseRun(ledger, { runId, threadId, claimed: lease })))) return
    const { message: error } = deadlineError(runId, deadlineAt)
    onNotice({ type: 'ended', runId, agent: agent ?? '', status: 'failed', ms: 0, dueAt: null, error })
  }

  async function block({ runId, agent }: RunSummary, lease: Lease, crashes: number): Promise<void> {
    const blocked = {
      eventType: 'system.workflow_blocked',
      correlationId: runId,
      causationId: null,
      source: { origin: 'system', runtime: 'clew' } as const,
      payload: { reason: `its process died ${crashes} times without its having come any further` },
    }
    await ledger.append([blocked], { epoch: lease.epoch })
    await release(lease)
    onNotice({ type: 'blocked', runId, agent: agent ?? '', crashes })
  }

  async function release(lease: Lease): Promise<void> {
    try {
      await ledger.leases.release(lease)
    } catch (error) {
      // Released by the run itself, taken over, or given up with the ledger: it is free of us either way.
      if (!(error instanceof ClewError) || (error.code !== 'stale_epoch' && error.code !== 'closed'))
        throw error
    }
  }

  async function goOn(run: RunSummary, lease: Lease, isSuspect: boolean): Promise<void> {
    const { runId, status } = run
    const agent = run.agent ?? ''
    const resume = agents.get(agent) as WorkerAgent['resume']
    const began = performance.now()
    const clear = (): void => void (suspect = suspect === runId ? undefined : suspect)
    const step = (ended: StepChange): void => {
      if (ended.status === 'completed') clear()
    }
    onNotice({ type: 'taken', runId, agent, why: status })
    try {
      const result = await resume(ledger, runId, {
        claimed: lease,
        shutdown,
        listener: isSuspect ? { step } : undefined,
      })
      settle(result)
      const { dueAt, error } = result
      const ms = performance.now() - began
      onNotice({
        type: 'ended',
        runId,
        agent,
        status: result.status,
        ms,
        dueAt,
        error: error?.message ?? null,
      })
    } finally {
      clear()
    }
  }

  /** One that is due again at once has come no further: it must not be taken without end. */
  function settle({ runId, status, dueAt }: RunResult): void {
    const isStill = !isTerminal(status) && dueAt !== null && Date.parse(dueAt) <= Date.now()
    if (isStill) postponed.add(runId)
    else postponed.forget(runId)
  }

  return {
    async take(lease) {
      const { runId } = lease
      let agent = ''
      try {
        const run = await ledger.getRun(runId)
        agent = run?.agent ?? ''
        const verdict = run && agents.has(agent) ? await checkRun(run, lease) : undefined
        if (run && verdict) await goOn(run, lease, verdict === 'suspect')
      } catch (error) {
        await release(lease).catch(() => {})
        if (error instanceof ClewError && error.code === 'closed') return
        const message = error instanceof Error ? error.message : String(error)
        onNotice({ type: 'postponed', runId, agent, error: message, untilMs: postponed.add(runId) })
      }
    },
  }
}
