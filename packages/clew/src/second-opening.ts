import { createHmac } from 'node:crypto'
import type { Ledger } from '@clew/ledger'
import type { OpenLedgerOptions } from './open-ledger.ts'

/** URL and options with which a thread opens the same ledger. */
export interface Opening {
  readonly url: string
  readonly options: OpenLedgerOptions
}

const openings = new WeakMap<Ledger, Opening>()

const signingKeys = new WeakMap<Ledger, string>()

/**
 * Notes how a ledger was opened, if another thread can open it (not `memory:`, and no options that are functions), and
 * the key that its servers sign view tokens with.
 */
export function noteOpening(ledger: Ledger, { url, options }: Opening, secret: string): void {
  signingKeys.set(ledger, createHmac('sha256', secret).update('view tokens of servers').digest('hex'))
  if (url === 'memory:') return
  try {
    // The index has a thread already.
    openings.set(ledger, structuredClone({ url, options: { ...options, index: false } }))
  } catch {
    // A function, such as `redact` of a redaction policy, cannot be sent to a thread.
  }
}

export const signingKeyOf = (ledger: Ledger): string | undefined => signingKeys.get(ledger)
export const openingOf = (ledger: Ledger): Opening | undefined => openings.get(ledger)
