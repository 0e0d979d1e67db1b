import {
  ClewError,
  createLedger,
  createMemoryStore,
  type Ledger,
  type LedgerOptions,
  type Store,
} from '@clew/ledger'
import { openSqliteStore, type Sync } from '@clew/sqlite'
import { nodePorts } from './ports.ts'
import { readSecret } from './secret.ts'
import { headChecker } from './signing.ts'

export interface OpenLedgerOptions extends LedgerOptions {
  /** `normal` (default) survives the death of the process, `full` also the loss of power. */
  readonly sync?: Sync | undefined
  /** Only read; a ledger that does not exist is an error. */
  readonly readOnly?: boolean | undefined
  /** `false`: a ledger that does not exist is an error instead of being made. */
  readonly create?: boolean | undefined
}

/** Opens a ledger: `memory:` or `sqlite:PATH`. */
export async function openLedger(url: string, options: OpenLedgerOptions = {}): Promise<Ledger> {
  const { sync, readOnly, create, ...ledgerOptions } = options
  const { store, secret } = openStore(url, { sync, readOnly, create })
  try {
    return createLedger({ store, ports: nodePorts, secret, heads: headChecker }, ledgerOptions)
  } catch (error) {
    await store.close()
    throw error
  }
}

type StoreOptions = Pick<OpenLedgerOptions, 'sync' | 'readOnly' | 'create'>

function openStore(url: string, options: StoreOptions): { store: Store; secret: string } {
  if (url === 'memory:') return { store: createMemoryStore(nodePorts), secret: readSecret(undefined) }
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1]
  if (path === undefined)
    throw new ClewError(
      'bad_url',
      `The store URL ${/^[a-z]+:/.exec(url)?.[0] ?? 'given'} is not one that Clew can open`,
      'Use memory: or sqlite:PATH, for example sqlite:./clew.db.',
    )
  const store = openSqliteStore(path, nodePorts, options)
  return { store, secret: readSecret(path, options.readOnly !== true) }
}
