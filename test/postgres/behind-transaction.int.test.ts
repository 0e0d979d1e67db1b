import { setTimeout as sleep } from 'node:timers/promises'
import { agent, requestStop } from '@clew/runtime'
import { type Ledger, openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { talk, thread } from '../langgraph/graphs.ts'
import { createLatch } from '../runtime/worlds.ts'
import { createDatabase, type TestDatabase } from './database.ts'

describe('while a transaction of somebody else stays open', () => {
  let database: TestDatabase
  let ledger: Ledger
  let other: Ledger
  let stranger: pg.Client
  beforeEach(async () => {
    database = await createDatabase()
    ledger = await openLedger(database.url)
    other = await openLedger(database.url)
    stranger = new pg.Client({ connectionString: database.url })
    await stranger.connect()
  })
  afterEach(async () => {
    await stranger.end()
    await ledger.close()
    await other.close()
    await database.drop()
  })

  async function begin(): Promise<void> {
    await stranger.query('BEGIN')
    await stranger.query('SELECT pg_current_xact_id()')
  }

  it('R9 R12 a stop request is heard', async () => {
    const begun = createLatch()
    const works = agent('works', (run) =>
      run.effect('work', null, (_, { signal }) => {
        begun.open()
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        )
      }),
    )
    const started = works.start(ledger, null, { runId: 'r' })
    await begun.opened
    await begin()
    // Its owner has seen all that came before.
    await sleep(1500)
    expect((await requestStop(other, 'r', { waitMs: 60_000 })).status).toBe('stopped')
    expect((await started).status).toBe('stopped')
    expect(await other.lastPosition()).toBeLessThan(await other.newestPosition())
  })

  it('R7 a thread that another process goes on with is read as it is now', async () => {
    const [here, there] = [talk(new ClewSaver(ledger)), talk(new ClewSaver(other))]
    await here.invoke({ lines: ['one'] }, thread('t'))
    expect((await there.getState(thread('t'))).values).toMatchObject({ lines: { length: 4 } })
    await begin()
    for (const [writer, reader, lines] of [
      [here, there, 8],
      [there, here, 12],
      [here, there, 16],
    ] as const) {
      await writer.invoke({ lines: ['more'] }, thread('t'))
      expect((await reader.getState(thread('t'))).values).toMatchObject({ lines: { length: lines } })
    }
    await stranger.query('COMMIT')
    await there.invoke({ lines: ['last'] }, thread('t'))
    expect((await here.getState(thread('t'))).values).toMatchObject({ lines: { length: 20 } })
  })
})
