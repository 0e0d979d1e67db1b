import {
  createLedger,
  createInProcessStore,
  type Ledger,
  type LedgerOptions,
  type Ports,
  type Store,
} from '@clew/ledger'
import { nodePorts } from '../../ledger/test/node-ports.ts'

export interface MemoryWorld {
  readonly store: Store
  /** Another view of the same store, as another process would have it. */
  open(workspace?: string, options?: Pick<LedgerOptions, 'redact'>): Ledger
  /** Moves the store's clock on. */
  turnClock(ms: number): void
}

type MakeStore = (ports: Ports) => Store
let makeStore: MakeStore = createInProcessStore

/** From now on worlds are made over stores of another kind: how these suites are run on PostgreSQL. */
export function makeWorldsOver(make: MakeStore): void {
  makeStore = make
}

/** Ledgers over one store in memory, with a clock that tests can turn. */
export function createMemoryWorld(): MemoryWorld {
  let offsetMs = 0
  const ports: Ports = { ...nodePorts, now: () => Date.now() + offsetMs }
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
