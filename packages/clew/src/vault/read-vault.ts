import { ClewError } from '@clew/ledger'
import type { VaultKey, VaultOption } from './open-vault.ts'

/** `CLEW_VAULT`: `on` for key files, or `ID:KEY`, with further `,ID:KEY` for older keys; empty or `off` for none. */
export function readVault(text: string | undefined): VaultOption | undefined {
  if (text === undefined || text === '' || text === 'off') return undefined
  if (text === 'on') return true
  const [current, ...older] = text.split(',').map(readKey)
  return { ...(current as VaultKey), older }
}

function readKey(text: string): VaultKey {
  const at = text.lastIndexOf(':')
  if (at > 0) return { id: text.slice(0, at).trim(), key: text.slice(at + 1).trim() }
  throw new ClewError(
    'bad_option',
    'CLEW_VAULT is neither on, off nor a list of keys',
    'Set it to on for a key file beside a SQLite store, or to ID:KEY, older keys behind it: ID:KEY,ID:KEY.',
    { option: 'CLEW_VAULT' },
  )
}
