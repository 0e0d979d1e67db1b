import { createLedger, createInProcessStore, type Ledger, type LedgerOptions } from '@clew/ledger'
import { nodePorts } from '../node-ports.ts'

/** Nobody signs what lives only as long as its process. */
const heads = { verify: async () => false }

/** A ledger in memory; `secret` keeps the fingerprints of redacted values equal between ledgers that share it. */
export const createMemoryLedger = (options: LedgerOptions = {}, secret = nodePorts.randomHex(32)): Ledger =>
  createLedger({ store: createInProcessStore(nodePorts), ports: nodePorts, secret, heads }, options)
