import type { Client } from 'pg'
import { createLedger, type Ledger } from '@clew/ledger'
import { nodePorts } from '../../ledger/test/node-ports.ts'
import { createAppender } from '../src/append.ts'
import { openPostgresStore } from '../src/index.ts'
import { openDatabase, type OpenedDatabase } from '../src/open-database.ts'
import { type Prepared, sendPrepared } from '../src/prepared.ts'
import type { Statement } from '../src/sql.ts'

export interface HeldWriter {
  /** Appends once, by the same statements as any ledger; nothing of it is committed before `end`. */
  readonly ledger: Ledger
  end(how: 'COMMIT' | 'ROLLBACK'): Promise<void>
  close(): Promise<void>
}

/** A writer whose transaction stays open as long as a test wants it to. */
export async function holdWriter(url: string): Promise<HeldWriter> {
  const { ledger, client } = await openWriter(url, async () => {})
  await client.query('BEGIN')
  return { ledger, end: async (how) => void (await client.query(how)), close: () => ledger.close() }
}

type Before = (statement: string, client: Client) => Promise<void>

/** A ledger whose appends go through one connection, on which a test can do what it wants before each statement. */
export async function openWriter(url: string, before: Before): Promise<{ ledger: Ledger; client: Client }> {
  const opened = await openDatabase(url, {})
  const client = opened.createClient()
  await client.connect()
  await opened.settle(client)
  const store = await openPostgresStore(url, nodePorts)
  const query = async (statement: Statement): Promise<unknown> => {
    await before(statement.name ?? statement.text, client)
    return client.query(statement)
  }
  const send = async (statement: Prepared): Promise<unknown> => {
    await before(statement.shape.name, client)
    return sendPrepared(client, statement)
  }
  const connection = { query, send, drop: () => {} }
  const database = { url: store.url, connect: async () => connection } as unknown as OpenedDatabase
  const { write } = createAppender({ database, ports: nodePorts, waitMs: 30_000 })
  const close = async (): Promise<void> => {
    await client.end()
    await store.close()
    await opened.close()
  }
  const ledger = createLedger({
    ports: nodePorts,
    secret: 'a secret for tests that is long enough',
    heads: { verify: async () => false },
    store: { ...store, write, close },
  })
  return { ledger, client }
}
