import {
  ClewError,
  createLedger,
  createInProcessStore,
  type Ledger,
  type LedgerOptions,
  readPolicies,
  type Store,
} from '@clew/ledger'
import type { Sync } from '@clew/sqlite'
import { readMode } from './read-mode.ts'
import { nodePorts } from '@clew/runtime/node-ports'
import { createPrice } from './prices/create-price.ts'
import type { PriceTable } from './prices/price-table.ts'
import { keyPath, markOf, readSecret } from './secret.ts'
import { headChecker } from './signing.ts'
import { isServerUrl } from './remote/not-remote.ts'
import { noteOpening } from './second-opening.ts'
import { sqlitePath } from './sqlite-path.ts'
import { prepareVault, type VaultOption } from './vault/open-vault.ts'
import { readVault } from './vault/read-vault.ts'

export interface OpenLedgerOptions extends LedgerOptions {
  /** On SQLite: `normal` (default) survives the death of the process, `full` also the loss of power, as PostgreSQL always does. */
  readonly sync?: Sync | undefined
  /** Only read; a ledger that does not exist is an error. */
  readonly readOnly?: boolean | undefined
  /** `false`: a ledger that does not exist is an error instead of being made. */
  readonly create?: boolean | undefined
  /** Keep the search index up to date in a thread of its own, so that neither appends nor searches wait for it. */
  readonly index?: boolean | undefined
  /** Prices of one's own, or the JSON file that holds them; default `CLEW_PRICES`. They win over the bundled ones. */
  readonly prices?: string | PriceTable | undefined
  /**
   * Keeps the secrets that redaction takes out, encrypted beside the record, so that runs are resumed and replayed with
   * them; default `CLEW_VAULT`, else off. `true` keeps the key in a file of mode 0600 beside a SQLite store.
   */
  readonly vault?: VaultOption | undefined
  /** Token of the server that the URL names; default `CLEW_TOKEN`. */
  readonly token?: string | undefined
  /** How long reads and appends are sent again while the server cannot be reached; default 60,000. */
  readonly retryMs?: number | undefined
}

/** Opens a ledger: `memory:`, `sqlite:PATH`, `postgres://…`, or a server: `https://…` (W9). What `mode` leaves open is as `CLEW_MODE` says; without it, all is on (R11). */
export async function openLedger(url: string, options: OpenLedgerOptions = {}): Promise<Ledger> {
  if (isServerUrl(url)) return (await import('./remote/open-server.ts')).openServer(url, options)
  const {
    sync,
    readOnly,
    create,
    index = false,
    prices = process.env['CLEW_PRICES'] || undefined,
    vault: vaultOption = readVault(process.env['CLEW_VAULT']),
    ...ledgerOptions
  } = options
  const mode = { ...readMode(process.env['CLEW_MODE']), ...options.mode }
  // A reader records no costs, so it needs no prices.
  const price = readOnly ? undefined : await createPrice(prices)
  const openVault = await prepareVault(vaultOption, url)
  const opened = await openStore(url, { sync, readOnly, create })
  let { store } = opened
  try {
    if (index && url !== 'memory:') store = await indexed(store, url)
    const vault = await openVault(store, readOnly === true)
    const policies = await readPolicies(store)
    const ledger = createLedger(
      { store, ports: nodePorts, secret: opened.secret, heads: headChecker, price, policies, vault },
      { ...ledgerOptions, mode },
    )
    noteOpening(ledger, { url, options }, opened.secret)
    return ledger
  } catch (error) {
    await store.close()
    throw error
  }
}

type StoreOptions = Pick<OpenLedgerOptions, 'sync' | 'readOnly' | 'create'>

interface OpenedStore {
  readonly store: Store
  readonly secret: string
}

/** Loads the driver of the store that the URL names, and no other. */
async function openStore(url: string, options: StoreOptions): Promise<OpenedStore> {
  if (url === 'memory:') return { store: createInProcessStore(nodePorts), secret: readSecret(undefined) }
  return /^postgres(?:ql)?:/.test(url) ? openPostgres(url, options) : openSqlite(url, options)
}

async function openSqlite(url: string, options: StoreOptions): Promise<OpenedStore> {
  const path = sqlitePath(url)
  if (path === undefined)
    throw new ClewError(
      'bad_url',
      `The store URL ${/^[a-z]+:/.exec(url)?.[0] ?? 'given'} is not one that Clew can open`,
      'Use memory:, sqlite:PATH, for example sqlite:./clew.db, postgres://USER:PASSWORD@HOST/DATABASE, or https://HOST of a server.',
    )
  const { openSqliteStore } = await import('@clew/sqlite')
  const store = openSqliteStore(path, nodePorts, options)
  return { store, secret: readSecret(path, options.readOnly !== true) }
}

/** The database keeps a fingerprint of the ledger's key, so that no machine writes with another key. */
async function openPostgres(url: string, { readOnly, create }: StoreOptions): Promise<OpenedStore> {
  const { openPostgresStore } = await import('@clew/postgres')
  let secret = ''
  const keyMark = (isMarked: boolean, shown: string): string => {
    secret = readSecret(keyPath(shown), !isMarked && readOnly !== true)
    return markOf(secret)
  }
  const store = await openPostgresStore(url, nodePorts, { readOnly, create, keyMark })
  return { store, secret }
}

/** The store with a search indexer beside it, in a thread that ends when the store is closed. */
async function indexed(store: Store, url: string): Promise<Store> {
  const { startIndexer } = await import('./start-indexer.ts')
  const indexer = startIndexer(url)
  return {
    ...store,
    async close() {
      await indexer.close()
      await store.close()
    },
  }
}
