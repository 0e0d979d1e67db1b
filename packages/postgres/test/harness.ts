import { createLedger, type Ledger, type LedgerOptions, type Ports } from '@clew/ledger'
import type { StoreHarness } from '@clew/ledger/conformance'
import { createSchema } from '../../../test/postgres/database.ts'
import { nodePorts } from '../../ledger/test/node-ports.ts'
import { openPostgresStore, type PostgresOptions } from '../src/index.ts'

/** The suite turns the clock of a world; the database's own cannot be turned, so the store adds the difference. */
export const postgresHarness: StoreHarness = {
  ports: nodePorts,
  async create(ports) {
    const place = await createSchema()
    const aheadMs = (): number => ports.now() - nodePorts.now()
    return {
      open: () => openPostgresStore(place.url, ports, { aheadMs }),
      dispose: () => place.drop(),
    }
  },
}

interface OpenOptions extends PostgresOptions {
  readonly ledger?: LedgerOptions
  readonly ports?: Ports
}

/** A ledger on a database, as `clew` puts it together. */
export async function openLedger(
  url: string,
  { ledger, ports = nodePorts, ...options }: OpenOptions = {},
): Promise<Ledger> {
  const store = await openPostgresStore(url, ports, options)
  const heads = { verify: async () => false }
  return createLedger({ store, ports, secret: 'a secret for tests that is long enough', heads }, ledger)
}
