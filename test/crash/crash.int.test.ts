import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLedger } from 'clew'
import { numRuns } from '../num-runs.ts'
import { CRASH_POINTS } from './crash-points.ts'
import { findViolations } from './oracle.ts'
import { pointOf, type Session, startSession } from './session.ts'

/** Each point twice. */
const ROUNDS = numRuns(2 * CRASH_POINTS.length)

describe('L5 R5 a writer that is killed', () => {
  let session: Session
  beforeAll(() => {
    session = startSession()
  })
  afterAll(() => session.close())

  for (let n = 0; n < ROUNDS; n++)
    it(`leaves everything acknowledged, once and whole: round ${n + 1}, ${pointOf(n)}`, async () => {
      expect((await session.round(pointOf(n))).violations).toEqual([])
    })
})

describe('the oracle goes red when', () => {
  let session: Session
  beforeAll(async () => {
    session = startSession()
    // By then it has written each kind of event at least once, on which the checks below rely.
    expect((await session.round('random', 60)).violations).toEqual([])
  })
  afterAll(() => session.close())

  /** Changes the file without its triggers, checks it, and undoes the change. */
  async function planted(sql: string): Promise<string[]> {
    const db = new DatabaseSync(session.database, { enableForeignKeyConstraints: false })
    const triggers = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${String(name)}`)
    db.exec(`CREATE TEMP TABLE kept_events AS SELECT * FROM events; CREATE TEMP TABLE kept_runs AS SELECT * FROM runs;
      CREATE TEMP TABLE kept_payloads AS SELECT * FROM payloads; CREATE TEMP TABLE kept_steps AS SELECT * FROM steps`)
    db.exec(sql)
    const found = await findViolations(session.database, session.acknowledged)
    for (const table of ['events', 'runs', 'payloads', 'steps'])
      db.exec(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM kept_${table}`)
    db.close()
    expect(await findViolations(session.database, session.acknowledged)).toEqual([])
    return found
  }
  const first = "(SELECT min(position) FROM events JOIN runs r ON r.id = run WHERE r.run_id = 'run-0')"

  it('an acknowledged event is removed', async () => {
    expect(
      await planted(
        `DELETE FROM payloads WHERE position = ${first}; DELETE FROM events WHERE position = ${first}`,
      ),
    ).toEqual(expect.arrayContaining([expect.stringContaining('lost:'), expect.stringContaining('missing:')]))
  })

  it('a whole run is removed, which no chain can tell', async () => {
    const run = "(SELECT id FROM runs WHERE run_id LIKE 'new-%' LIMIT 1)"
    const found = await planted(
      `DELETE FROM payloads WHERE position IN (SELECT position FROM events WHERE run = ${run}); DELETE FROM events WHERE run = ${run};
       DELETE FROM runs WHERE id = ${run}`,
    )
    expect(found).toEqual([expect.stringContaining('lost:')])
  })

  it('a projection row is changed', async () => {
    expect(
      await planted(
        `UPDATE steps SET record = json_set(record, '$.n', 'x') WHERE id = (SELECT max(id) FROM steps)`,
      ),
    ).toEqual(expect.arrayContaining([expect.stringContaining('projection_differs:')]))
    expect(
      await planted(
        `UPDATE runs SET summary = replace(summary, '"events":', '"events":1') WHERE run_id = 'run-0'`,
      ),
    ).toEqual([expect.stringContaining('projection_differs:')])
  })

  it('a hash is changed', async () => {
    expect(await planted(`UPDATE events SET hash = randomblob(32) WHERE position = ${first}`)).toEqual(
      expect.arrayContaining([expect.stringContaining('changed:'), expect.stringContaining('moved:')]),
    )
  })

  it('one fact is there twice under two ids', async () => {
    const ledger = await openLedger(`sqlite:${session.database}`)
    for await (const { eventType, correlationId, payload } of ledger.read('run-0', { limit: 1 }))
      await ledger.append([{ eventType, correlationId, payload }])
    await ledger.close()
    expect(await findViolations(session.database, session.acknowledged)).toEqual([
      expect.stringContaining('twice:'),
    ])
  })
})
