import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ForeignType, foreignType, type Ledger, type RecordInput } from '@clew/ledger'
import { createDatabase, type TestDatabase } from '../test/server.ts'
import { openLedger } from '../test/harness.ts'
import { MIGRATIONS } from './migrations.ts'

const note = (n: number): RecordInput<ForeignType> => ({
  eventType: foreignType('execution.note'),
  correlationId: 'r',
  payload: { n },
})
const now = MIGRATIONS
/** Versions 1 to 7 were another format. */
const NEWEST = 7 + now.length
/** What a next version may bring: a column that has a default, a table, an index. */
const NEXT = `ALTER TABLE runs ADD COLUMN mood text; CREATE TABLE moods (name text);
  CREATE INDEX runs_by_mood ON runs (mood) WHERE mood IS NOT NULL;`

let database: TestDatabase
let opened: Ledger[] = []
beforeEach(async () => {
  database = await createDatabase()
})
afterEach(async () => {
  for (const ledger of opened.splice(0)) await ledger.close()
  await database.drop()
})

async function open(migrations: readonly string[], readOnly = false): Promise<Ledger> {
  const ledger = await openLedger(database.url, { migrations, readOnly })
  opened.push(ledger)
  return ledger
}

describe('L10 a rolling deploy', () => {
  it('old and new code work side by side, and the old may be started again, one version apart', async () => {
    const old = await open(now)
    await old.record(note(1))
    const fresh = await open([...now, NEXT])
    for (const [n, ledger] of [fresh, old, fresh, await open(now), await open([...now, NEXT])].entries())
      await ledger.record(note(n + 2))
    expect(await (await open(now, true)).verify(undefined, { projections: true })).toMatchObject({
      ok: true,
      checked: 6,
    })
    expect(await database.query('SELECT version FROM clew.meta')).toEqual([{ version: NEWEST + 1 }])
  })

  it('code that is two versions behind, or that a migration has shut out, is refused and changes nothing', async () => {
    await open([...now, NEXT, 'SELECT 1'])
    await expect(open(now)).rejects.toMatchObject({
      code: 'newer_store',
      fields: { version: NEWEST + 2 },
    })
    const other = await createDatabase()
    const last = [...now, `UPDATE meta SET oldest = ${NEWEST + 1}`]
    opened.push(await openLedger(other.url, { migrations: last }))
    await expect(openLedger(other.url, { migrations: now })).rejects.toMatchObject({ code: 'newer_store' })
    for (const ledger of opened.splice(0)) await ledger.close()
    await other.drop()
  })

  it('ten that open it at once make one schema, and go on with one that an older version made', async () => {
    for (const migrations of [now, [...now, NEXT]])
      await Promise.all(Array.from({ length: 10 }, () => open(migrations)))
    await Promise.all(opened.map((ledger, n) => ledger.record(note(n))))
    expect(await opened[0]?.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 20 })
  })
})
