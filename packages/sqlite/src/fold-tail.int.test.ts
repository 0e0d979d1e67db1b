import { DatabaseSync } from 'node:sqlite'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventInput, Ledger } from '@clew/ledger'
import { makeFolder, openLedger, removeFolder } from '../test/harness.ts'

let folder: string
let file: string
let ledger: Ledger
beforeEach(() => {
  folder = makeFolder()
  file = join(folder, 'clew.db')
  ledger = openLedger(file)
})
afterEach(async () => {
  await ledger.close()
  removeFolder(folder)
})

const event = (eventType: string, payload: Record<string, unknown>, runId = 'r'): EventInput => ({
  eventType,
  correlationId: runId,
  payload,
})
const start = (n: number): EventInput =>
  event('execution.step_started', { stepId: `s#${n}`, name: 's', input: n })
const end = (n: number, more: object = {}): EventInput =>
  event('execution.step_completed', { stepId: `s#${n}`, output: n, ...more })

/** One commit each, so that the store sees that nobody else writes. */
async function appendAll(events: readonly EventInput[]): Promise<void> {
  for (const each of events) await ledger.append([each])
}
const steps = (count: number, first = 0): EventInput[] =>
  Array.from({ length: count }, (_, i) => [start(first + i), end(first + i)]).flat()

interface Place {
  readonly seq: number
  readonly folded: number
  readonly steps: number
}
function stored(path = file): Place {
  const db = new DatabaseSync(path)
  const row = db
    .prepare(
      `SELECT seq, folded_seq AS folded, (SELECT count(*) FROM steps WHERE run = r.id) AS steps
       FROM runs r WHERE run_id = 'r'`,
    )
    .get()
  db.close()
  return { ...row } as unknown as Place
}
async function assertWhole(other: Ledger): Promise<void> {
  expect((await other.verify(undefined, { projections: true })).problems).toEqual([])
}

describe('L1 rows that are behind their events', () => {
  beforeEach(() => appendAll([event('system.workflow_started', { agent: 'a' }), ...steps(20)]))

  it('are behind, within limits, and yet nobody sees it', async () => {
    const { seq, folded } = stored()
    expect(seq).toBe(41)
    expect(folded).toBeGreaterThan(0)
    expect(folded).toBeLessThan(seq)
    const other = openLedger(file)
    for (const each of [ledger, other]) {
      expect(await each.getRun('r')).toMatchObject({ events: 41, steps: 20, status: 'running' })
      expect((await each.listRuns()).runs[0]).toEqual(await ledger.getRun('r'))
      const skeleton = await each.getSkeleton('r')
      expect(skeleton.map(({ stepId, status }) => `${stepId} ${status}`)).toEqual(
        Array.from({ length: 20 }, (_, n) => `s#${n} completed`),
      )
      await assertWhole(each)
    }
    await other.close()
    await appendAll(steps(60, 20))
    const later = stored()
    expect(later.seq - later.folded).toBeLessThan(64)
    expect(later.folded).toBeGreaterThan(seq)
  })

  it('are not behind any more when the status changes, the cost does, or the ledger is closed', async () => {
    await ledger.append([end(19, { usage: { inputTokens: 1, outputTokens: 1 }, cost: 0.5, model: 'm' })])
    await ledger.append([event('execution.message', { usage: { inputTokens: 1 }, cost: 0.25 })])
    const paid = stored()
    expect(paid.folded).toBe(paid.seq)
    await appendAll(steps(2, 30))
    expect(stored().folded).toBeLessThan(stored().seq)
    await ledger.append([event('system.workflow_paused', {})])
    expect(stored().folded).toBe(stored().seq)
    await appendAll([event('system.workflow_resumed', {}), ...steps(2, 40)])
    expect(stored().folded).toBeLessThan(stored().seq)
    await ledger.close()
    expect(stored().folded).toBe(stored().seq)
    ledger = openLedger(file)
    await assertWhole(ledger)
  })

  it('are made up for after the death of the process, by whoever reads or goes on', async () => {
    // What a process leaves that is killed now.
    const copy = join(folder, 'copy.db')
    for (const part of ['', '-wal']) copyFileSync(`${file}${part}`, `${copy}${part}`)
    expect(stored(copy).folded).toBeLessThan(stored(copy).seq)
    const reader = openLedger(copy, { readOnly: true })
    expect((await reader.getRun('r'))?.steps).toBe(20)
    expect(await reader.getSkeleton('r')).toHaveLength(20)
    await reader.close()
    const heir = openLedger(copy)
    await heir.append([end(7)])
    await heir.append([start(20)])
    await assertWhole(heir)
    expect((await heir.getRun('r'))?.steps).toBe(21)
    const after = stored(copy)
    expect(after.folded).toBe(after.seq)
    await heir.close()
  })

  it('R2 a step whose row is long written is the same step when somebody tells of it again', async () => {
    await appendAll(steps(60, 20))
    expect(stored().steps).toBeGreaterThan(20)
    await appendAll([end(3, { output: 'again' }), end(4, { name: 's' })])
    expect((await ledger.getRun('r'))?.steps).toBe(80)
    expect(await ledger.getSkeleton('r')).toHaveLength(80)
    await assertWhole(ledger)
  })

  it('are put right by a rebuild, whose own rows are not folded upon once more', async () => {
    const db = new DatabaseSync(file)
    db.exec(`UPDATE steps SET record = json_set(record, '$.st', 'failed') WHERE step_id = 's#1';
      UPDATE runs SET summary = replace(summary, '"steps":', '"steps":1')`)
    db.close()
    expect((await ledger.verify('r', { projections: true })).ok).toBe(false)
    expect(await ledger.rebuild()).toMatchObject({ runs: 1, changed: 1 })
    await assertWhole(ledger)
    await appendAll(steps(3, 50))
    await assertWhole(ledger)
  })

  it('an event of theirs whose payload somebody damaged is named by verify, and what is left can be read', async () => {
    const db = new DatabaseSync(file)
    db.exec("DROP TRIGGER inbox_never_changes; UPDATE inbox SET body = '{broken' WHERE position = 41")
    db.close()
    expect((await ledger.verify('r')).problems).toMatchObject([{ seq: 41, problem: 'changed' }])
    expect((await ledger.getRun('r'))?.events).toBe(41)
  })

  it('L6 a cut-off end is found all the same: heads are never behind', async () => {
    const db = new DatabaseSync(file, { enableForeignKeyConstraints: false })
    db.exec('DROP TRIGGER inbox_moves_on; DELETE FROM inbox WHERE seq > 38')
    db.close()
    expect((await ledger.verify('r')).problems).toMatchObject([{ seq: 39, problem: 'truncated' }])
  })
})

it('L1 whatever two connections write, in whatever turns, rows and tails together give what a rebuild gives', async () => {
  const write = fc.record({
    who: fc.boolean(),
    // Long stretches by one of them are what makes rows fall behind.
    times: fc.constantFrom(1, 1, 3, 12, 70),
    run: fc.constantFrom('a', 'b'),
    kind: fc.constantFrom('start', 'end', 'fail', 'pause', 'ask', 'large', 'usage', 'message'),
    step: fc.integer({ min: 0, max: 4 }),
  })
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 25 }), async (writes) => {
      const path = join(folder, `random-${round++}.db`)
      const two = [openLedger(path), openLedger(path)] as const
      for (const { who, times, run, kind, step } of writes)
        for (let i = 0; i < times; i++) {
          const stepId = `s#${step + (i % 7)}`
          const inputs: Record<typeof kind, [string, Record<string, unknown>]> = {
            start: ['execution.step_started', { stepId, name: 's', attempt: 1 + (i % 2) }],
            end: ['execution.step_completed', { stepId, attempt: 1 + (i % 2), name: 's' }],
            fail: ['execution.step_failed', { stepId, error: { message: 'no' } }],
            pause: ['system.workflow_paused', {}],
            ask: ['ui.input_requested', { pauseId: `p${step}`, stepId, question: '?' }],
            large: ['execution.step_completed', { stepId, output: 'long '.repeat(600) }],
            usage: ['execution.step_completed', { stepId, usage: { inputTokens: 2 }, cost: 0.1 }],
            message: ['execution.message', { content: 'hello' }],
          }
          await two[who ? 1 : 0].append([event(...inputs[kind], run)])
        }
      for (const each of two) await assertWhole(each)
      expect(await two[0].rebuild()).toMatchObject({ changed: 0 })
      for (const each of two) await each.close()
      const later = openLedger(path)
      await assertWhole(later)
      await later.close()
    }),
    { numRuns: 15 },
  )
})
