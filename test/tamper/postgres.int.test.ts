import type { SignedHeads } from '@clew/ledger'
import { afterAll, beforeAll } from 'vitest'
import { openPostgresStore } from '../../packages/postgres/src/index.ts'
import { createDatabase, type TestDatabase } from '../postgres/database.ts'
import { describeManipulations } from './describe-manipulations.ts'
import { fillWorld, openWorld, portsOf, readWorld, signer } from './world.ts'

let original: TestDatabase
let heads: SignedHeads
let answers: string

beforeAll(async () => {
  original = await createDatabase()
  await fillWorld((daysAgo) =>
    openPostgresStore(original.url, portsOf(daysAgo), { aheadMs: () => portsOf(daysAgo).now() - Date.now() }),
  )
  const ledger = openWorld(await openPostgresStore(original.url, portsOf()))
  heads = await ledger.signHeads(signer)
  answers = await readWorld(ledger)
  await ledger.close()
})
afterAll(() => original.drop())

const DROP_TRIGGERS = `DO $$
DECLARE t record;
BEGIN
  FOR t IN SELECT oid::regclass AS name FROM pg_class WHERE relnamespace = 'clew'::regnamespace AND relkind = 'r' LOOP
    EXECUTE format('ALTER TABLE %s DISABLE TRIGGER ALL', t.name);
  END LOOP;
END $$`

describeManipulations({
  dialect: { name: 'postgres', bytes: (hex) => `'\\x${hex}'::bytea`, flag: String },
  heads: () => heads,
  answers: () => answers,
  async copy() {
    const database = await createDatabase({ create: `TEMPLATE ${original.name}` })
    return {
      execute: async (sql) => void (await database.query(`SET search_path = clew; ${sql}`)),
      dropTriggers: async () => void (await database.query(DROP_TRIGGERS)),
      open: async () => openWorld(await openPostgresStore(database.url, portsOf())),
      dispose: () => database.drop(),
    }
  },
})
