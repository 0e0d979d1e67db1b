import { createLedger, type Ledger } from '@clew/ledger'
import { nodePorts } from '../../sqlite/test/node-ports.ts'
import { createAppender } from '../src/append.ts'
import { openPostgresStore } from '../src/index.ts'
import { openDatabase, type OpenedDatabase } from '../src/open-database.ts'

export interface HeldWriter {
  /** Appends once, by the same statements as any ledger; nothing of it is committed before `end`. */
  readonly ledger: Ledger
  end(how: 'COMMIT' | 'ROLLBACK'): Promise<void>
  close(): Promise<void>
}

/** A writer whose transaction stays open as long as a test wants it to. */
export async function holdWriter(url: string): Promise<HeldWriter> {
  const opened = await openDatabase(url, {})
  const client = opened.createClient()
  await client.connect()
  await opened.settle(client)
  await client.query('BEGIN')
  const store = await openPostgresStore(url, nodePorts)
  const connection = { query: client.query.bind(client), drop: () => {} }
  const database = { url: store.url, connect: async () => connection } as unknown as OpenedDatabase
  const { write } = createAppender({ database, ports: nodePorts, waitMs: 30_000 })
  const parts = {
    ports: nodePorts,
    secret: 'a secret for tests that is long enough',
    heads: { verify: async () => false },
  }
  return {
    ledger: createLedger({ ...parts, store: { ...store, write } }),
    end: async (how) => void (await client.query(how)),
    async close() {
      await client.end()
      await store.close()
      await opened.close()
    },
  }
}
