import { randomBytes } from 'node:crypto'
import { ClewError, createIds, isSystemRun } from '@clew/ledger'

export const nextId = createIds({
  now: Date.now,
  randomHex: (bytes) => randomBytes(bytes).toString('hex'),
})

/** Run ids of children are made of their parent's, with a slash: one in a user's id could collide with them. */
export function checkRunId(runId: string | undefined): string {
  if (runId === undefined) return nextId()
  if (runId === '' || runId.includes('/'))
    throw new ClewError(
      'bad_option',
      runId === '' ? 'The run id is empty' : 'The run id holds a slash',
      'Use letters, digits, hyphens and dots; slashes name child runs.',
      { runId },
    )
  if (isSystemRun(runId))
    throw new ClewError(
      'bad_option',
      'The run id begins with clew:, which is reserved for system runs',
      'Use another id. Nothing was started.',
      { runId },
    )
  return runId
}
