import type { Ledger } from '@clew/ledger'
import type { OpenLedgerOptions } from './open-ledger.ts'

/** What opening needs (keys, prices, signatures, ports of Node) is loaded with the first ledger that is opened. */
export const openLedger = async (url: string, options: OpenLedgerOptions = {}): Promise<Ledger> =>
  (await import('./open-ledger.ts')).openLedger(url, options)
