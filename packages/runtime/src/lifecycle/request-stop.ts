import { setTimeout as sleep } from 'node:timers/promises'
import {
  ClewError,
  findStopRequest,
  isTerminal,
  type Ledger,
  type RecordedStopRequest,
  recordStopRequest,
  type RunSummary,
} from '@clew/ledger'
import { type RunLease, leaseRun } from './lease-run.ts'
import { type HeldEnding, type HeldRequest, stopHeld } from './stop-held.ts'
import { lookNow } from './ticker.ts'

export interface StopOptions {
  readonly reason?: string | undefined
  readonly by?: string | undefined
  /** Maximum wait for the run's owner to end it. Default 10,000. */
  readonly waitMs?: number | undefined
}

const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 200

/**
 * Asks a run to stop, from any process. A run that nobody works on (paused, asleep, orphaned) is ended here, with its
 * open steps and child runs; otherwise its owner does it. Gives the run as it stands then: one whose owner took longer than
 * `waitMs` is not terminal yet, and the request stands.
 */
export async function requestStop(
  ledger: Ledger,
  runId: string,
  options: StopOptions = {},
): Promise<RunSummary> {
  const { reason = null, by = null, waitMs = 10_000 } = options
  const run = await readRun(ledger, runId)
  if (isTerminal(run.status)) throw endedRun(run)
  const request =
    (await findStopRequest(ledger, run)) ?? (await recordStopRequest(ledger, runId, { reason, by }))
  lookNow(ledger)
  return follow(ledger, runId, request, waitMs)
}

async function follow(
  ledger: Ledger,
  runId: string,
  request: RecordedStopRequest,
  waitMs: number,
): Promise<RunSummary> {
  const deadline = performance.now() + waitMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    const run = await readRun(ledger, runId)
    if (isTerminal(run.status)) return run
    const hold = await holdIfFree(ledger, runId)
    if (hold && (await stopAndRelease(ledger, hold, request, waitMs))) continue
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return run
    await sleep(Math.min(pauseMs, leftMs))
  }
}

export async function holdIfFree(ledger: Ledger, runId: string): Promise<RunLease | null> {
  try {
    // Without its thread: another run of it may be at work, and that is no reason to leave this one waiting.
    return await leaseRun(ledger, { runId, threadId: null })
  } catch (error) {
    if (error instanceof ClewError && error.code === 'busy') return null
    throw error
  }
}

/** False when one of its child runs is still worked on: the run ends after it. */
export async function stopAndRelease(
  ledger: Ledger,
  hold: RunLease,
  request: HeldRequest,
  waitMs: number,
  ending?: HeldEnding,
): Promise<boolean> {
  const { reason, by } = request
  const stopChild = async (childRunId: string): Promise<void> => {
    try {
      const asked = { reason: reason ?? undefined, by: by ?? undefined, waitMs }
      const child = await requestStop(ledger, childRunId, asked)
      if (!isTerminal(child.status)) throw workingChild(childRunId)
    } catch (error) {
      // The child has ended, or was announced by its parent and never began.
      if (!(error instanceof ClewError) || (error.code !== 'ended' && error.code !== 'not_found')) throw error
    }
  }
  try {
    await stopHeld(ledger, hold, request, stopChild, ending)
    return true
  } catch (error) {
    if (error instanceof ClewError && error.code === 'busy') return false
    // Taken over while its children were being stopped: then the request is the new owner's business.
    if (!(error instanceof ClewError) || error.code !== 'stale_epoch') throw error
    hold.lose(error)
    return true
  } finally {
    await hold.release()
  }
}

async function readRun(ledger: Ledger, runId: string): Promise<RunSummary> {
  const run = await ledger.getRun(runId)
  if (run) return run
  throw new ClewError(
    'not_found',
    `There is no run ${runId} to stop`,
    'Look for its id in the list of runs.',
    {
      runId,
    },
  )
}

export const workingChild = (runId: string): ClewError =>
  new ClewError(
    'busy',
    `Child run ${runId} was asked to stop, and its owner has not ended it yet`,
    'The request stands; go on with its parent when the child has ended.',
    { runId },
  )

const endedRun = ({ runId, status }: RunSummary): ClewError =>
  new ClewError(
    'ended',
    `Run ${runId} is ${status} and cannot be stopped`,
    'Nothing is left to do; nothing was written.',
    { runId, status },
  )
