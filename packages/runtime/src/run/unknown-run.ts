import { ClewError } from '@clew/ledger'

export const unknownRun = (runId: string): ClewError =>
  new ClewError('not_found', `There is no run ${runId}`, 'See `clew runs` for those there are.', { runId })
