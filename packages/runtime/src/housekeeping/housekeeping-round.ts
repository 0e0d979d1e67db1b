import { asOwn, ClewError, type Ledger, type PayloadOf, systemRunId } from '@clew/ledger'
import { leaseRun, type RunLease } from '../lifecycle/lease-run.ts'
import { sweep } from '../lifecycle/sweep.ts'

/** Run in which each round is an event. Whoever holds its lease does the round. */
export const HOUSEKEEPING_RUN_ID = systemRunId('housekeeping')

type HousekeepingPayload = PayloadOf<'system.housekeeping_completed'>

/** What a round did. */
export interface HousekeepingRound extends HousekeepingPayload {
  /** When it was recorded. */
  readonly at: string
}

/** The last round of the workspace, whichever process did it; null if there was none. */
export async function readLastHousekeeping(ledger: Ledger): Promise<HousekeepingRound | null> {
  const run = await ledger.getRun(HOUSEKEEPING_RUN_ID)
  for await (const event of ledger.read(HOUSEKEEPING_RUN_ID, { afterSeq: (run?.events ?? 1) - 1 })) {
    const own = asOwn(event)
    if (own?.eventType === 'system.housekeeping_completed')
      return { ...own.payload, at: event.ledger.recordedAt }
  }
  return null
}

/** Does a round if one is due and no other process is at it; null otherwise. */
export async function housekeepingRound(
  ledger: Ledger,
  everyMs: number,
  now: () => number,
): Promise<HousekeepingRound | null> {
  const isDue = async (): Promise<boolean> => {
    const last = await readLastHousekeeping(ledger)
    // A clock that was set back must not put the next round off for ever.
    return last === null || Math.abs(now() - Date.parse(last.at)) >= everyMs
  }
  if (!(await isDue())) return null
  const lease = await tryLease(ledger)
  if (!lease) return null
  try {
    // Another process may have done it before the lease was free.
    return (await isDue()) ? await doRound(ledger, lease, now) : null
  } finally {
    await lease.release()
  }
}

async function tryLease(ledger: Ledger): Promise<RunLease | null> {
  try {
    return await leaseRun(ledger, { runId: HOUSEKEEPING_RUN_ID, threadId: null })
  } catch (error) {
    if (error instanceof ClewError && error.code === 'busy') return null
    throw error
  }
}

async function doRound(ledger: Ledger, lease: RunLease, now: () => number): Promise<HousekeepingRound> {
  const startedAt = new Date(now()).toISOString()
  const errors: NonNullable<HousekeepingPayload['errors']>[number][] = []
  async function attempt(
    task: string,
    work: () => Promise<HousekeepingPayload>,
  ): Promise<HousekeepingPayload> {
    lease.signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      lease.signal.throwIfAborted()
      if (!(error instanceof ClewError)) errors.push({ task, message: String(error) })
      else if (error.code === 'closed') throw error
      else if (error.fields['missing'] !== true)
        errors.push({ task, code: error.code, message: error.message })
      return {}
    }
  }
  const done = {
    startedAt,
    ...(await attempt('sweep', async () => ({ interrupted: (await sweep(ledger)).length }))),
    ...(await attempt('retention', () => deleteByPolicy(ledger, lease.signal))),
    ...(await attempt('index', () => catchUpIndex(ledger, lease.signal))),
  }
  const [event] = await ledger.append(
    [
      {
        eventType: 'system.housekeeping_completed',
        correlationId: HOUSEKEEPING_RUN_ID,
        causationId: null,
        source: { origin: 'system', runtime: 'clew' },
        payload: errors.length > 0 ? { ...done, errors } : done,
      },
    ],
    { epoch: lease.epoch },
  )
  return { ...done, ...(errors.length > 0 && { errors }), at: event?.ledger.recordedAt ?? startedAt }
}

async function deleteByPolicy(ledger: Ledger, signal: AbortSignal): Promise<HousekeepingPayload> {
  const { policy, events, runs, kept } = await ledger.gc({
    by: 'housekeeping',
    // Between two batches: who lost the lease stops, and the new owner goes on with the rest.
    onProgress: () => signal.throwIfAborted(),
  })
  const { source, by, at } = policy
  return {
    policy: { source, ...(by !== null && { by }), ...(at !== null && { at }) },
    events,
    runs,
    kept: kept.length,
  }
}

async function catchUpIndex(ledger: Ledger, signal: AbortSignal): Promise<HousekeepingPayload> {
  const { lag } = await ledger.indexState()
  if (lag > 0) await ledger.index({ signal })
  return { indexed: lag }
}
