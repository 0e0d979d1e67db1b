import { afterEach, beforeEach, expect, it } from 'vitest'
import { createDatabase, nodePorts, type TestDatabase } from '../test/server.ts'
import { openPostgresStore } from './index.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createDatabase()
})
afterEach(() => database.drop())

const COLUMNS = `SELECT attname, atttypid::regtype::text AS type, attcollation::regcollation::text AS collation
  FROM pg_attribute WHERE attrelid = 'clew.progress'::regclass AND attnum > 0 ORDER BY attnum`

it('P5 a scrub removes what the server counted of a table that is empty now, and its columns keep their collation', async () => {
  const store = await openPostgresStore(database.url, nodePorts)
  const before = await database.query(COLUMNS)
  const key = { workspace: 'w', runId: 'r' }
  const notes = Array.from({ length: 200 }, (_, n) => ({
    ...key,
    stepId: `s#${n}`,
    attempt: 1,
    stepType: 'tool',
    version: 1,
    body: '"ann"',
    at: '2026-01-01T00:00:00.000Z',
  }))
  await store.progress.put(notes, Date.now())
  await database.query('ANALYZE clew.progress')
  await store.progress.clear(key)
  await store.disk.scrub({ rewrite: false })
  const texts = `SELECT count(*)::int AS n FROM pg_stats WHERE schemaname = 'clew' AND tablename = 'progress'
    AND attname IN ('workspace', 'run_id', 'step_id', 'body')`
  expect(await database.query(texts)).toEqual([{ n: 0 }])
  expect(await database.query(COLUMNS)).toEqual(before)
  await store.close()
})
