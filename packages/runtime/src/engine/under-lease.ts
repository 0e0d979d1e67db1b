import { ClewError, type Ledger } from '@clew/ledger'
import { leaseRun } from '../lifecycle/lease-run.ts'
import { type RunAppender, openRunAppender } from '../machine/run-appender.ts'
import type { RunOptions } from '../run/run-options.ts'

/** Forking needs the thread's lease: otherwise the fork becomes the newest run of a thread that another process is working on. */
export async function underLease<T>(
  { ledger }: { readonly ledger: Ledger },
  runId: string,
  threadId: string | null,
  { onBusy, signal }: Pick<RunOptions, 'onBusy' | 'signal'>,
  work: (journal: RunAppender, epoch: number) => Promise<T>,
): Promise<T> {
  const hold = await leaseRun(ledger, { runId, threadId, onBusy, signal })
  try {
    const journal = openRunAppender({ ledger, runId, epoch: hold.epoch, onStale: hold.lose })
    return await work(journal, hold.epoch)
  } catch (error) {
    if (error instanceof ClewError && error.code === 'wrong_seq')
      throw new ClewError(
        'conflict',
        `Run ${runId} is not where it was expected to be`,
        'Somebody else wrote to it, or it exists already: look at it again; nothing was changed.',
        { runId },
        error,
      )
    throw error
  } finally {
    await hold.release()
  }
}
