import { createLedger, createInProcessStore, type Ledger, type LedgerOptions } from '@clew/ledger'
import { nodePorts } from '../node-ports.ts'

/** Heads are not signed: the ledger ends with its process. */
const heads = { verify: async () => false }

/** A ledger in the process's memory; `secret` keeps the fingerprints of redacted values equal between ledgers that share it. */
export const createInProcessLedger = (
  options: LedgerOptions = {},
  secret = nodePorts.randomHex(32),
): Ledger =>
  createLedger({ store: createInProcessStore(nodePorts), ports: nodePorts, secret, heads }, options)
