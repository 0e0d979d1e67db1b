import { AsyncLocalStorage } from 'node:async_hooks'
import { hash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ports } from '../src/ports.ts'

const causes = new AsyncLocalStorage<string>()

/** The ledger’s needs, met by Node, for its tests and those of the stores. */
export const nodePorts: Ports = {
  sha256: (text) => hash('sha256', text),
  randomHex: (bytes) => randomBytes(bytes).toString('hex'),
  now: Date.now,
  defer: (task) => void setImmediate(() => task()),
  async sleep(ms, signal) {
    await sleep(ms, undefined, signal && { signal })
  },
  context: {
    run: (causationId, fn) => causes.run(causationId, fn),
    current: () => causes.getStore(),
  },
}
