import { AsyncLocalStorage } from 'node:async_hooks'
import { hash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createLedger,
  createMemoryStore,
  type Ledger,
  type LedgerOptions,
  type Ports,
  type Store,
} from '@clew/ledger'

export interface MemoryWorld {
  readonly store: Store
  /** Another view of the same store, as another process would have it. */
  open(workspace?: string, options?: Pick<LedgerOptions, 'redact'>): Ledger
  /** Moves the store's clock on. */
  turnClock(ms: number): void
}

type MakeStore = (ports: Ports) => Store
let makeStore: MakeStore = createMemoryStore

/** From now on worlds are made over stores of another kind: how these suites are run on PostgreSQL. */
export function makeWorldsOver(make: MakeStore): void {
  makeStore = make
}

/** Ledgers over one store in memory, with a clock that tests can turn. */
export function createMemoryWorld(): MemoryWorld {
  let offsetMs = 0
  const causes = new AsyncLocalStorage<string>()
  const ports: Ports = {
    sha256: (text) => hash('sha256', text),
    randomHex: (bytes) => randomBytes(bytes).toString('hex'),
    now: () => Date.now() + offsetMs,
    defer: (task) => void setImmediate(() => task()),
    async sleep(ms, signal) {
      await sleep(ms, undefined, signal && { signal })
    },
    context: { run: (causationId, fn) => causes.run(causationId, fn), current: () => causes.getStore() },
  }
  const store = makeStore(ports)
  const heads = { verify: async () => false }
  return {
    store,
    open: (workspace = 'default', options = {}) =>
      createLedger(
        { store, ports, secret: 'a secret for tests that is long enough', heads },
        { workspace, ...options },
      ),
    turnClock(ms) {
      offsetMs += ms
    },
  }
}
