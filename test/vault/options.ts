import type { OpenLedgerOptions } from 'clew'

/** `off`, `files`, or a key in hex. */
export const optionsOf = (vault: string): OpenLedgerOptions =>
  vault === 'off' ? {} : { vault: vault === 'files' ? true : { id: 'test', key: vault } }
