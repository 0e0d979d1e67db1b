import { AsyncLocalStorage } from 'node:async_hooks'
import { hash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ClewEvent,
  createLedger,
  createMemoryStore,
  type Ledger,
  type LedgerOptions,
  type Ports,
} from '@clew/ledger'

export interface MemoryWorld {
  /** Another view of the same store, as another process would have it. */
  open(options?: LedgerOptions): Ledger
}

/** Ledgers over one store in memory; its clock is the one of `Date`, which a test may turn. */
export function createMemoryWorld(): MemoryWorld {
  const causes = new AsyncLocalStorage<string>()
  const ports: Ports = {
    sha256: (text) => hash('sha256', text),
    randomHex: (bytes) => randomBytes(bytes).toString('hex'),
    now: () => Date.now(),
    defer: (task) => void setImmediate(() => task()),
    async sleep(ms, signal) {
      await sleep(ms, undefined, signal && { signal })
    },
    context: { run: (causationId, fn) => causes.run(causationId, fn), current: () => causes.getStore() },
  }
  const store = createMemoryStore(ports)
  const heads = { verify: async () => false }
  const secret = 'a secret for tests that is long enough'
  return {
    open: (options = {}) => createLedger({ store, ports, secret, heads, price }, options),
  }
}

export const openMemory = (): Ledger => createMemoryWorld().open()

export const readAll = (ledger: Ledger, runId: string): Promise<ClewEvent[]> =>
  Array.fromAsync(ledger.read(runId))

/** A cent per thousand tokens of the models that tests name. */
const price = (
  model: string,
  _provider: string | undefined,
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
) =>
  model.startsWith('test-')
    ? { amount: (inputTokens + outputTokens) / 100_000, source: 'test', version: '1' }
    : null
