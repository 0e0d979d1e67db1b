import { setTimeout as sleep } from 'node:timers/promises'
import { ClewError, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import { unknownRun } from '../run/unknown-run.ts'
import { leaseRun } from './lease-run.ts'
import { lookNow } from './ticker.ts'

export interface PauseOptions {
  readonly reason?: string | undefined
  readonly by?: string | undefined
  /** Maximum wait for the run's owner to let go of it. Default 10,000. */
  readonly waitMs?: number | undefined
}

const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 200
const SOURCE = { origin: 'system', runtime: 'clew' } as const

/**
 * Pauses a run until `requestResume`, from any process. One that nobody works on is paused at once, and no worker takes it
 * up; otherwise its owner begins nothing more, and lets go when what is in flight has ended. Gives the run as it stands
 * then: one whose owner takes longer than `waitMs` is still running, and the request stands (W7).
 */
export async function requestPause(
  ledger: Ledger,
  runId: string,
  { reason, by, waitMs = 10_000 }: PauseOptions = {},
): Promise<RunSummary> {
  const run = await readRun(ledger, runId)
  if (isTerminal(run.status)) throw endedRun(run)
  if (!run.held)
    await ledger.record({
      eventType: 'system.pause_requested',
      correlationId: runId,
      source: SOURCE,
      payload: { ...(reason !== undefined && { reason }), ...(by !== undefined && { by }) },
    })
  lookNow(ledger)
  const deadline = performance.now() + waitMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    const now = await readRun(ledger, runId)
    if (now.status !== 'running') return now
    if (await interruptIfFree(ledger, runId)) continue
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return now
    await sleep(Math.min(pauseMs, leftMs))
  }
}

/** Ends an operator's pause: the run goes on where it stood, as soon as a process that has its agent takes it up. */
export async function requestResume(
  ledger: Ledger,
  runId: string,
  { by }: Pick<PauseOptions, 'by'> = {},
): Promise<RunSummary> {
  const run = await readRun(ledger, runId)
  if (isTerminal(run.status)) throw endedRun(run)
  if (!run.held) return run
  await ledger.record({
    eventType: 'system.resume_requested',
    correlationId: runId,
    source: SOURCE,
    payload: { ...(by !== undefined && { by }) },
  })
  return readRun(ledger, runId)
}

/** A run whose owner died is let go of here. */
async function interruptIfFree(ledger: Ledger, runId: string): Promise<boolean> {
  try {
    const hold = await leaseRun(ledger, { runId, threadId: null })
    try {
      if ((await ledger.getRun(runId))?.status !== 'running') return true
      await ledger.append(
        [
          {
            eventType: 'system.workflow_interrupted',
            correlationId: runId,
            causationId: null,
            source: SOURCE,
            payload: { reason: 'its owner is dead' },
          },
        ],
        { epoch: hold.epoch },
      )
      return true
    } finally {
      await hold.release()
    }
  } catch (error) {
    if (error instanceof ClewError && error.code === 'busy') return false
    throw error
  }
}

async function readRun(ledger: Ledger, runId: string): Promise<RunSummary> {
  const run = await ledger.getRun(runId)
  if (run) return run
  throw unknownRun(runId)
}

const endedRun = ({ runId, status }: RunSummary): ClewError =>
  new ClewError(
    'ended',
    `Run ${runId} is ${status} and can neither be paused nor resumed`,
    'Nothing is left to do; nothing was written.',
    { runId, status },
  )
