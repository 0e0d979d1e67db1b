import type { SignedHeads } from '@clew/ledger'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { openPostgresStore } from '../../packages/postgres/src/index.ts'
import { createDatabase, type TestDatabase } from '../postgres/database.ts'
import { describeManipulations } from './describe-manipulations.ts'
import { fillWorld, openWorld, portsOf, readWorld, signer } from './world.ts'

let database: TestDatabase
/** One connection for all tests: a new one costs more than most of what it is asked. */
let client: pg.Client
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
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(KEEP_ROWS)
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

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

/** Puts the rows of all tables that differ back, and all triggers: most changes touch one table, and DDL takes longest. */
const RESTORE_ROWS = `DO $$ DECLARE t record; differs boolean; is_off boolean; BEGIN
  is_off := EXISTS (SELECT FROM pg_trigger WHERE tgenabled = 'D');
  ${forEachTable(`EXECUTE format('SELECT EXISTS (TABLE clew.%1$I EXCEPT ALL TABLE kept.%2$I) OR EXISTS (TABLE kept.%2$I EXCEPT ALL TABLE clew.%1$I)',
      t.name, 'rows_' || t.name) INTO differs;
    CONTINUE WHEN NOT differs;
    is_off := true;
    ${DISABLE}
    EXECUTE format('DELETE FROM clew.%I', t.name);
    EXECUTE format('INSERT INTO clew.%I OVERRIDING SYSTEM VALUE TABLE kept.%I', t.name, 'rows_' || t.name);`)}
  IF NOT is_off THEN RETURN; END IF;
  ${forEachTable(`CONTINUE WHEN NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = ('clew.' || quote_ident(t.name))::regclass AND tgenabled = 'D');
    EXECUTE format('ALTER TABLE clew.%I ENABLE TRIGGER ALL', t.name);`)}
  FOR t IN SELECT kept.* FROM kept.triggers kept JOIN pg_trigger now
    ON now.tgrelid = kept."table"::regclass AND now.tgname = kept.name WHERE now.tgenabled <> 'A' LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', t."table", t.name);
  END LOOP;
END $$`

describeManipulations({
  dialect: { name: 'postgres', bytes: (hex) => `'\\x${hex}'::bytea`, flag: String },
  heads: () => heads,
  answers: () => answers,
  async copy() {
    return {
      execute: async (sql) => void (await client.query(`SET search_path = clew; ${sql}`)),
      dropTriggers: async () => void (await client.query(DROP_TRIGGERS)),
      open: async () => openWorld(await openPostgresStore(database.url, portsOf())),
      dispose: async () => void (await client.query(`DISCARD TEMP; ${RESTORE_ROWS}`)),
    }
  },
})
