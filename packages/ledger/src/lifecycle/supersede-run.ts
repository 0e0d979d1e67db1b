import { closeOpenSteps, endingEvent } from './close-open.ts'
import { ClewError } from '../errors.ts'
import type { Ledger } from '../ledger.ts'

/**
 * Another run takes this one's place. If it is at work, its lease is taken away: from then on its owner can write
 * nothing more, and learns so at its next heartbeat or append. A run that is superseded or deleted stays as it is.
 */
export async function supersedeRun(ledger: Ledger, runId: string, by: string): Promise<void> {
  const run = await ledger.getRun(runId)
  if (!run)
    throw new ClewError(
      'not_found',
      `There is no run ${runId} that run ${by} could supersede`,
      'Name one of this workspace; nothing was written.',
      { runId },
    )
  if (run.status === 'superseded' || run.status === 'deleted') return
  const { workspace } = ledger
  const held = (await ledger.leases.list()).find(
    (lease) => lease.workspace === workspace && lease.runId === runId,
  )
  if (held) await ledger.leases.release(held).catch(ignoreLost)
  const taken = await ledger.leases.acquire({ workspace, runId }, null)
  try {
    const steps = await closeOpenSteps(ledger, runId, `superseded by ${by}`)
    await ledger.append([...steps, endingEvent('system.workflow_superseded', runId, { by })], {
      epoch: taken.epoch,
      keepStepIds: true,
    })
  } finally {
    await ledger.leases.release(taken)
  }
}

/** Its owner gave it back at the same moment. */
function ignoreLost(error: unknown): void {
  if (!(error instanceof ClewError) || error.code !== 'stale_epoch') throw error
}
