import type { Client } from 'pg'
import { createLedger, type Ledger } from '@clew/ledger'
import { nodePorts } from '../../ledger/test/node-ports.ts'
import { createWriter } from '../src/write.ts'
import { openPostgresStore } from '../src/index.ts'
import { openDatabase } from '../src/open-database.ts'
import type { Sql } from '../src/sql.ts'

export interface HeldWriter {
  /** Appends once, by the same statements as any ledger; nothing of it is committed before `end`. */
  readonly ledger: Ledger
  end(how: 'COMMIT' | 'ROLLBACK'): Promise<void>
  close(): Promise<void>
}

/** A writer whose transaction stays open as long as a test wants it to. */
export async function holdWriter(url: string): Promise<HeldWriter> {
  const { ledger, client } = await openWriter(url, async (statement) => !ENDS.has(statement))
  await client.query('BEGIN')
  return { ledger, end: async (how) => void (await client.query(how)), close: () => ledger.close() }
}

const ENDS: ReadonlySet<string> = new Set(['BEGIN', 'COMMIT', 'ROLLBACK'])

/** Called before each statement, with its name or text; the statement is left out when it resolves with false. */
type Before = (statement: string, client: Client) => Promise<boolean>

/** A ledger whose appends go through one connection, on which a test can do what it wants before each statement. */
export async function openWriter(url: string, before: Before): Promise<{ ledger: Ledger; client: Client }> {
  const opened = await openDatabase(url, {})
  const client = opened.createClient()
  await client.connect()
  await opened.settle(client)
  const store = await openPostgresStore(url, nodePorts)
  let last: Promise<unknown> = Promise.resolve()
  // One after another: the writer sends several without waiting for answers.
  const query: Sql['query'] = (statement) => {
    const sent = last.then(async () =>
      (await before(statement.name ?? statement.text, client))
        ? client.query(statement)
        : { rows: [], rowCount: 0 },
    )
    last = sent.catch(() => undefined)
    return sent
  }
  const { write } = createWriter({
    database: { url: store.url, connect: async () => ({ query, release: () => {} }) },
    ports: nodePorts,
    waitMs: 30_000,
  })
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
