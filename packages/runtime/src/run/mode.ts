import { ClewError, type Ledger } from '@clew/ledger'

/** R11: writing, resuming and replaying are switched one by one; reading history always works. */
export function assertMode(ledger: Ledger, what: 'write' | 'resume' | 'replay'): void {
  if (ledger.mode[what]) return
  throw new ClewError(
    'switched_off',
    `This ledger is open with ${what} switched off`,
    `Open it with mode { ${what}: true }, or set CLEW_MODE; nothing was changed.`,
    { mode: what },
  )
}
