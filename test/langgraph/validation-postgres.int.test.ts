import { openLedger } from 'clew'
import { afterAll, beforeAll } from 'vitest'
import { createDatabase, type TestDatabase } from '../postgres/database.ts'
import { judge } from './judge.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

let count = 0
judge('ClewSaver on PostgreSQL', () => openLedger(database.url, { workspace: `judge-${count++}` }))
