import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openLedger } from '../../packages/clew/src/index.ts'
import { createDatabase, type TestDatabase } from '../postgres/database.ts'
import { findBytes, recordCustomers, SUBJECT, WORD } from './world.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
}, 60_000)
afterAll(() => database.drop())

/** The folder of this database, where the server runs on this machine; undefined elsewhere. */
async function folderOf(): Promise<string | undefined> {
  const [row] = await database.query(
    `SELECT current_setting('data_directory') AS folder, oid FROM pg_database WHERE datname = current_database()`,
  )
  const folder = join(String(row?.['folder']), 'base', String(row?.['oid']))
  try {
    return readdirSync(folder).length > 0 ? folder : undefined
  } catch {
    return undefined
  }
}

/** Every row of every table as text. */
async function everyRow(): Promise<string> {
  const tables = await database.query(
    `SELECT schemaname AS schema, tablename AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )
  const rows: unknown[] = []
  for (const { schema, name } of tables)
    rows.push(await database.query(`SELECT t::text FROM ${String(schema)}.${String(name)} t`))
  return JSON.stringify(rows)
}

it('P5 no table of PostgreSQL has a row of it, and after a rewrite no file of the database a byte', async () => {
  const ledger = await openLedger(database.url)
  await recordCustomers(ledger, 15)
  await ledger.search(WORD)
  expect(await everyRow()).toContain(WORD)
  const folder = await folderOf()
  await database.query('CHECKPOINT')
  if (folder) expect(findBytes(folder)).not.toEqual([])
  const report = await ledger.erase({ subject: SUBJECT }, { by: 'dpo', rewrite: true })
  expect(report.events).toBe(21)
  const rows = await everyRow()
  for (const needle of [WORD, SUBJECT]) expect(rows).not.toContain(needle)
  expect((await ledger.verify(undefined, { projections: true })).problems).toEqual([])
  await ledger.close()
  await database.query('CHECKPOINT')
  if (folder) expect(findBytes(folder)).toEqual([])
}, 120_000)
