import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { type EventInput, foreignType, type RebuildReport } from '@clew/ledger'
import { openLedger } from '../test/harness.ts'
import { withChildren } from '../test/with-children.ts'

const here = withChildren()

const event = (n: number, runs: number): EventInput => ({
  eventType: n % 2 ? 'execution.step_started' : 'execution.step_completed',
  correlationId: `run-${Math.floor(n / 2) % runs}`,
  payload: { stepId: `s#${Math.floor(n / 2)}`, name: 's', text: `needle number ${n}` },
})

async function fill(count: number, runs = 10): Promise<void> {
  const ledger = openLedger(here.file)
  for (let n = 0; n < count; n += 500)
    await ledger.append(Array.from({ length: Math.min(500, count - n) }, (_, i) => event(n + i + 1, runs)))
  await ledger.close()
}

/** All that a child said before it was killed, at least `answers` answers after its start. */
async function killAfter(answers: number, ...args: readonly (string | number)[]): Promise<unknown[]> {
  const child = here.start(...args)
  const said: unknown[] = []
  while (said.length < answers) said.push(await child.next())
  await child.kill('SIGKILL')
  // What it said between the last answer and its end lies in the pipe.
  for (;;) {
    const more = await child.next().catch(() => undefined)
    if (more === undefined) return said
    said.push(more)
  }
}

describe('V9 a consumer that is killed', () => {
  it('again and again sees every event at least once, and no more than its last batch twice', async () => {
    const [events, batch] = [1500, 50]
    await fill(events)
    const times = new Map<number, number>()
    let kills = 0
    const ledger = openLedger(here.file)
    for (let left = events; left > 0; kills++) {
      const waiting = Math.ceil(((await ledger.consumers())[0]?.lag ?? events) / batch)
      const answers = Math.min(1 + (kills % 9), waiting)
      const batches = (await killAfter(answers, 'consume', here.file, 'work', batch)) as number[][]
      for (const position of batches.flat()) times.set(position, (times.get(position) ?? 0) + 1)
      const [state] = await ledger.consumers()
      // Nobody was told of an event that the cursor has passed over.
      for (let position = 1; position <= (state?.position ?? 0); position++)
        expect(times.has(position)).toBe(true)
      left = events - times.size
    }
    expect(times.size).toBe(events)
    const twice = [...times.values()].filter((count) => count > 1).length
    expect(twice).toBeLessThanOrEqual(kills * batch * 2)
    await ledger.close()
  })

  it('frees its name at once for another process', async () => {
    await fill(200)
    const first = here.start('consume', here.file, 'work', 10)
    expect(await first.next()).toEqual(Array.from({ length: 10 }, (_, n) => n + 1))
    const second = here.start('consume', here.file, 'work', 10)
    const ledger = openLedger(here.file)
    await expect.poll(async () => (await ledger.consumers())[0]?.lag, { timeout: 60_000 }).toBe(0)
    await first.kill('SIGKILL')
    await ledger.append([event(1001, 1)])
    expect(await second.next()).toEqual([201])
    await ledger.close()
  })
})

describe('L1 the search index', () => {
  it('goes on where it was after kills, with each event in it once', async () => {
    const events = 15_000
    await fill(events)
    for (const answers of [1, 3, 2, 5]) await killAfter(answers, 'index', here.file, answers + 3)
    const ledger = openLedger(here.file)
    const before = await ledger.indexState()
    expect(before.position).toBeGreaterThan(0)
    expect(before.position % 500).toBe(0)
    await ledger.index()
    expect(await ledger.indexState()).toEqual({ position: events, lag: 0, isCurrent: true })
    const { hits } = await ledger.search('needle "number 777"')
    expect(hits.map((hit) => hit.found)).toEqual([1])
    await ledger.close()
    const index = new DatabaseSync(`${here.file}.search.db`, { readOnly: true })
    expect(index.prepare('SELECT count(*) AS n FROM words_docsize').get()).toEqual({ n: events })
    expect(index.prepare("SELECT count(*) AS n FROM words WHERE words MATCH 'needle'").get()).toEqual({
      n: events,
    })
    index.close()
  })

  it('of two processes at once takes each event once', async () => {
    await fill(5000)
    const both = [here.start('index', here.file), here.start('index', here.file)]
    for (const child of both) for (let said: unknown; said !== 'done'; ) said = await child.next()
    const index = new DatabaseSync(`${here.file}.search.db`, { readOnly: true })
    expect(index.prepare('SELECT count(*) AS n FROM words_docsize').get()).toEqual({ n: 5000 })
    index.close()
  })

  it('that is damaged, of an older schema, or of another ledger is made anew', async () => {
    const found = async (): Promise<number> => {
      const ledger = openLedger(here.file)
      const { hits } = await ledger.search('needle', { catchUpMs: 60_000 })
      await ledger.close()
      return hits.length
    }
    const change = (sql: string): void => {
      const index = new DatabaseSync(`${here.file}.search.db`)
      index.exec(sql)
      index.close()
    }
    await fill(100)
    expect(await found()).toBe(10)
    change('PRAGMA user_version = 99')
    expect(await found()).toBe(10)
    change('UPDATE state SET version = 0')
    expect(await found()).toBe(10)
    change("UPDATE state SET anchor = x'00'")
    expect(await found()).toBe(10)
    writeFileSync(`${here.file}.search.db`, 'this is no database at all, but text\n'.repeat(200))
    expect(await found()).toBe(10)
  })

  it('is read as it stands by who may only read, and its absence is no error', async () => {
    await fill(10)
    const first = openLedger(here.file, { readOnly: true })
    expect(await first.search('needle')).toEqual({ hits: [], nextCursor: null, lag: 10 })
    await first.close()
    const writer = openLedger(here.file)
    await writer.index()
    await writer.append([event(11, 1)])
    await writer.close()
    const reader = openLedger(here.file, { readOnly: true })
    const { hits, lag } = await reader.search('needle')
    expect([hits.length, lag]).toEqual([6, 1])
    await reader.close()
  })

  it('P5 holds no byte of a word whose event was erased, or of which a killed process did not remove it', async () => {
    const ledger = openLedger(here.file)
    const { eventId } = await ledger.record({
      eventType: foreignType('execution.note'),
      correlationId: 'r',
      payload: { text: 'zebrasecret word' },
    })
    await ledger.index()
    const holdsWord = (): boolean =>
      ['', '-wal'].some((end) => readFileSync(`${here.file}.search.db${end}`).includes('zebra'))
    expect(holdsWord()).toBe(true)
    await ledger.erase({ eventId })
    expect(holdsWord()).toBe(false)
    const plain = new DatabaseSync(here.file)
    expect(plain.prepare('SELECT count(*) AS n FROM search_removals').get()).toEqual({ n: 0 })
    // As a kill between the two files leaves it.
    plain.prepare('INSERT INTO search_removals VALUES (1)').run()
    plain.close()
    expect((await ledger.search('type:execution.note')).hits).toHaveLength(1)
    await ledger.close()
  })
})

describe('L1 a rebuild that is killed', () => {
  it('goes on where it was; in the end all rows are what the events fold to', async () => {
    const runs = 200
    await fill(4000, runs)
    const plain = new DatabaseSync(here.file)
    plain.exec(`UPDATE runs SET summary = json_set(summary, '$.steps', 999), status = 'partial';
      UPDATE steps SET record = json_set(record, '$.k', 'spoilt'); UPDATE slots SET value = json_set(value, '$.version', 1)`)
    const cursor = plain.prepare(`SELECT value ->> '$.rebuilding.cursor' AS cursor FROM slots`)
    await killAfter(150, 'rebuild', here.file, 150)
    const passed = Number(cursor.get()?.['cursor'])
    expect(passed).toBe(100)
    plain.close()
    const ledger = openLedger(here.file)
    expect((await ledger.projectionState()).isRebuilding).toBe(true)
    const second = here.start('rebuild', here.file)
    // Writers go on meanwhile.
    for (let n = 0; n < 50; n++) await ledger.append([event(5000 + n, 1)])
    let report: RebuildReport | undefined
    while (!report) {
      const said = await second.next()
      if (typeof said === 'object') report = said as RebuildReport
    }
    expect(report.runs).toBe(runs - passed)
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 4050 })
    expect(await ledger.projectionState()).toMatchObject({ isRebuilding: false })
    await ledger.close()
  })
})
