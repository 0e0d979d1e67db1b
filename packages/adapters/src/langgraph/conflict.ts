import { ClewError } from '@clew/ledger'

/** Two invocations began at the same checkpoint: the later one fails, and nothing of the first is lost. */
export const conflict = (thread: string, checkpointId?: string): ClewError =>
  new ClewError(
    'conflict',
    `Thread "${thread.slice(0, 60)}" went on in the meantime: another invocation or update came first`,
    'Invoke again: it then starts from the newest state. To branch off an older checkpoint, name it by checkpoint_id.',
    { threadId: thread.slice(0, 60), checkpointId },
  )

/** Converts a compare-and-set error of the ledger to such a conflict. */
export const toConflict = (error: unknown, thread: string): unknown =>
  error instanceof ClewError && error.code === 'wrong_seq' ? conflict(thread) : error
