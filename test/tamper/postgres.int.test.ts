import type { SignedHeads } from '@clew/ledger'
import { afterAll, beforeAll } from 'vitest'
import { openPostgresStore } from '../../packages/postgres/src/index.ts'
import { createDatabase, type TestDatabase } from '../postgres/database.ts'
import { describeManipulations } from './describe-manipulations.ts'
import { fillWorld, openWorld, portsOf, readWorld, signer } from './world.ts'

let database: TestDatabase
let heads: SignedHeads
let answers: string

beforeAll(async () => {
  database = await createDatabase()
  await fillWorld((daysAgo) =>
    openPostgresStore(database.url, portsOf(daysAgo), { aheadMs: () => portsOf(daysAgo).now() - Date.now() }),
  )
  const ledger = openWorld(await openPostgresStore(database.url, portsOf()))
  heads = await ledger.signHeads(signer)
  answers = await readWorld(ledger)
  await ledger.close()
  await database.query(KEEP_ROWS)
})
afterAll(() => database.drop())

const forEachTable = (statements: string): string => `
  FOR t IN SELECT relname AS name FROM pg_class WHERE relnamespace = 'clew'::regnamespace AND relkind = 'r' LOOP
    ${statements}
  END LOOP;`
const DISABLE = "EXECUTE format('ALTER TABLE clew.%I DISABLE TRIGGER ALL', t.name);"

const DROP_TRIGGERS = `DO $$ DECLARE t record; BEGIN ${forEachTable(DISABLE)} END $$`

/** Copies all rows, and which triggers are on, to the schema `kept`. */
const KEEP_ROWS = `DO $$ DECLARE t record; BEGIN
  CREATE SCHEMA kept;
  CREATE TABLE kept.triggers AS SELECT tgrelid::regclass::text AS "table", tgname AS name FROM pg_trigger WHERE tgenabled = 'A';
  ${forEachTable("EXECUTE format('CREATE TABLE kept.%I AS TABLE clew.%I', 'rows_' || t.name, t.name);")}
END $$`

/** Puts all rows and triggers back. */
const RESTORE_ROWS = `DO $$ DECLARE t record; BEGIN
  ${forEachTable(`${DISABLE}
    EXECUTE format('DELETE FROM clew.%I', t.name);
    EXECUTE format('INSERT INTO clew.%I OVERRIDING SYSTEM VALUE TABLE kept.%I', t.name, 'rows_' || t.name);`)}
  ${forEachTable("EXECUTE format('ALTER TABLE clew.%I ENABLE TRIGGER ALL', t.name);")}
  FOR t IN SELECT * FROM kept.triggers LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', t."table", t.name);
  END LOOP;
END $$`

describeManipulations({
  dialect: { name: 'postgres', bytes: (hex) => `'\\x${hex}'::bytea`, flag: String },
  heads: () => heads,
  answers: () => answers,
  async copy() {
    return {
      execute: async (sql) => void (await database.query(`SET search_path = clew; ${sql}`)),
      dropTriggers: async () => void (await database.query(DROP_TRIGGERS)),
      open: async () => openWorld(await openPostgresStore(database.url, portsOf())),
      dispose: async () => void (await database.query(RESTORE_ROWS)),
    }
  },
})
