import {
  type ClewEvent,
  createLedger,
  createInProcessStore,
  type Ledger,
  type LedgerOptions,
  type Ports,
} from '@clew/ledger'
import { nodePorts } from '../../ledger/test/node-ports.ts'

export interface MemoryWorld {
  /** Another view of the same store, as another process would have it. */
  open(options?: LedgerOptions): Ledger
}

/** Ledgers over one store in memory; its clock is the one of `Date`, which a test may turn. */
export function createMemoryWorld(): MemoryWorld {
  const ports: Ports = { ...nodePorts, now: () => Date.now() }
  const store = createInProcessStore(ports)
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
