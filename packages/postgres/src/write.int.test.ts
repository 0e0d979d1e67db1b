import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventInput, Ledger, PruneItem, Store, Written } from '@clew/ledger'
import { openLedger } from '../test/harness.ts'
import { holdWriter } from '../test/held-writer.ts'
import { createDatabase, nodePorts, type TestDatabase } from '../test/server.ts'
import { openPostgresStore } from './index.ts'

const workspace = 'default'
const event = (eventType: string, runId: string, payload: Record<string, unknown> = {}): EventInput => ({
  eventType,
  correlationId: runId,
  payload,
})

let database: TestDatabase
let ledger: Ledger
let store: Store
beforeEach(async () => {
  database = await createDatabase()
  ledger = await openLedger(database.url)
  store = await openPostgresStore(database.url, nodePorts)
})
afterEach(async () => {
  await ledger.close()
  await store.close()
  await database.drop()
})

const count = async (sql: string): Promise<unknown> =>
  (await database.query(`SELECT count(*)::int AS n FROM ${sql}`))[0]?.['n']

describe('R7 a fork that is being written while its source is pruned', () => {
  it.each([
    ['COMMIT', 'needs the range, which is kept'],
    ['ROLLBACK', 'never was, and the range is pruned'],
  ] as const)('%s: it %s', async (how, _) => {
    await ledger.append([
      event('system.workflow_started', 'r'),
      event('execution.note', 'r'),
      event('system.workflow_completed', 'r'),
    ])
    const [run] = (await store.findRuns({ workspace, ids: ['r'] })).runs
    const range: PruneItem = {
      workspace,
      runId: 'r',
      fromSeq: 1,
      toSeq: 3,
      headHash: run?.hash ?? '',
      seq: 3,
      deletes: true,
    }
    const writer = await holdWriter(database.url)
    await writer.ledger.append([event('system.workflow_forked', 'f', { sourceRunId: 'r', sourceSeq: 2 })])
    let written: Written | undefined
    const pruning = store.write({ calls: [], prune: [range] }).then((done) => (written = done))
    await expect
      .poll(() => count("pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"))
      .toBeGreaterThan(0)
    expect(written).toBeUndefined()
    await writer.end(how)
    expect(await pruning).toMatchObject(how === 'COMMIT' ? { moved: ['r'] } : { outcomes: [] })
    expect(await count("clew.events e JOIN clew.runs r ON r.id = e.run WHERE r.run_id = 'r'")).toBe(
      how === 'COMMIT' ? 3 : 0,
    )
    await writer.close()
  })
})

describe('P5 a payload that is blanked while indexes read it', () => {
  const newest = async (): Promise<number> => (await store.info('newestPosition')).newestPosition
  const blank = async (): Promise<void> => {
    const written = await store.write({ calls: [], blank: [{ as: 'erased', positions: [await newest()] }] })
    expect(written).toMatchObject({ outcomes: [] })
  }

  it('leaves no row of memory, whichever of the two comes first', async () => {
    for (let round = 0; round < 20; round++) {
      await ledger.memory.put({ layer: 'long', namespace: 'n', key: `k${round}`, value: 'of ann' })
      await Promise.all([ledger.memory.search('ann'), blank()])
      expect(await count('clew.memory_items')).toBe(0)
    }
  })

  it('leaves no word in the search index after the next catch-up, and is not found before it', async () => {
    const hasWords = "w.texts IS NOT NULL OR EXISTS (SELECT FROM unnest(w.words) u WHERE u.lexeme = 'needle')"
    for (let round = 0; round < 20; round++) {
      await ledger.append([event('execution.message', 'r', { role: 'user', content: 'needle' })])
      await Promise.all([ledger.index({}), blank()])
      expect((await ledger.search('needle', { catchUpMs: 0 })).hits).toEqual([])
      const { position, version } = await store.search.state()
      expect(await store.search.add({ from: position, position, version, documents: [] })).toBe(true)
      expect(await count(`clew.search_words w WHERE ${hasWords}`)).toBe(0)
      expect(await count('clew.search_removals')).toBe(0)
    }
  })
})

it('V11 a replaced summary replaces all index rows of tags, scores and subjects that are not as it is', async () => {
  await ledger.append([
    event('system.workflow_started', 'r', { subjects: ['ann', 'bob'] }),
    event('system.tagged', 'r', { set: { team: 'birds', size: 'small' } }),
    event('system.tagged', 'r', { set: { team: 'fish' }, unset: ['size'] }),
    event('system.scored', 'r', { target: 'run', name: 'good', value: 1, by: 'ann' }),
    event('system.scored', 'r', { target: 'run', name: 'good', value: 2, by: 'ann' }),
  ])
  const rows = async (): Promise<unknown> => [
    await database.query('SELECT subject FROM clew.subjects ORDER BY 1'),
    await database.query('SELECT name, value FROM clew.tags ORDER BY 1'),
    await database.query('SELECT seq, name, value, number FROM clew.scores ORDER BY 1'),
  ]
  const stored = await rows()
  expect(stored).toEqual([
    [{ subject: 'ann' }, { subject: 'bob' }],
    [{ name: 'team', value: 'fish' }],
    [{ seq: '5', name: 'good', value: '2', number: 2 }],
  ])
  await database.query(`DELETE FROM clew.subjects WHERE subject = 'ann'; UPDATE clew.tags SET value = 'dogs';
    INSERT INTO clew.tags SELECT run, 'more', 'x' FROM clew.tags; UPDATE clew.scores SET seq = 4, number = 9`)
  const summary = (await store.findRuns({ workspace, ids: ['r'] })).runs[0]?.summary
  await store.write({ calls: [], replace: [{ workspace, runId: 'r', summary, steps: [], gone: [] }] })
  expect(await rows()).toEqual(stored)
})
