import { AsyncLocalStorage } from 'node:async_hooks'
import { hash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLedger, createMemoryStore, type Ledger, type LedgerOptions, type Ports } from '@clew/ledger'

const causes = new AsyncLocalStorage<string>()

const ports: Ports = {
  sha256: (text) => hash('sha256', text),
  randomHex: (bytes) => randomBytes(bytes).toString('hex'),
  now: Date.now,
  defer: (task) => void setImmediate(task),
  async sleep(ms, signal) {
    await sleep(ms, undefined, signal && { signal })
  },
  context: {
    run: (causationId, fn) => causes.run(causationId, fn),
    current: () => causes.getStore(),
  },
}

/** Nobody signs what lives only as long as its process. */
const heads = { verify: async () => false }

/** A ledger in memory; `secret` keeps the fingerprints of redacted values equal between ledgers that share it. */
export const createMemoryLedger = (options: LedgerOptions = {}, secret = ports.randomHex(32)): Ledger =>
  createLedger({ store: createMemoryStore(ports), ports, secret, heads }, options)
