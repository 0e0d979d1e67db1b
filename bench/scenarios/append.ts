import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Ledger, openLedger, type RecordInput } from 'clew'
import { type BareRows, insertBare, openBare, readRows } from '../bare-rows.ts'
import { type Figure, inTempFolder, micros, prose, rate, seconds, sideBySide } from '../measure.ts'

const EVENTS = 50_000
const GROUP = 100
const SINGLE = 3000

/** About 500 bytes with its envelope. */
const event = (i: number, runId: string): RecordInput<'execution.message'> => ({
  eventType: 'execution.message',
  correlationId: runId,
  payload: { role: 'assistant', content: prose(300, i % 997), index: i },
})

const INTERLEAVED = Array.from({ length: EVENTS }, (_, i) => event(i, `run-${i % 50}`))

async function recordInterleaved(ledger: Ledger): Promise<void> {
  for (let i = 0; i < EVENTS; i += GROUP)
    await Promise.all(INTERLEAVED.slice(i, i + GROUP).map((each) => ledger.record(each)))
}

/** The least that anybody would write: one table with two indexes, no chain, no folds. */
function oneTable(path: string): number {
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE events (id TEXT PRIMARY KEY, run TEXT, seq INTEGER, type TEXT, at TEXT, payload TEXT);
    CREATE INDEX by_run ON events (run, seq)`)
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)')
  const start = performance.now()
  for (let i = 0; i < EVENTS; i += GROUP) {
    db.exec('BEGIN')
    for (const [at, { eventType, correlationId, payload }] of INTERLEAVED.slice(i, i + GROUP).entries())
      insert.run(
        `${String(i + at).padStart(12, '0')}-${correlationId}`,
        correlationId,
        i + at,
        eventType,
        new Date().toISOString(),
        JSON.stringify(payload),
      )
    db.exec('COMMIT')
  }
  const time = (performance.now() - start) / 1000
  db.close()
  return time
}

const INPUTS = Array.from({ length: EVENTS }, (_, i) => event(i, `run-${Math.floor(i / GROUP) % 10}`))

async function appendGrouped(ledger: Ledger): Promise<void> {
  for (let i = 0; i < EVENTS; i += GROUP) await ledger.append(INPUTS.slice(i, i + GROUP))
}

export async function appendFigures(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const file = (name: string): string => join(folder, name)
    const first = await openLedger(`sqlite:${file('rows.db')}`)
    await appendGrouped(first)
    await first.close()
    const rows = readRows(file('rows.db'), EVENTS)

    const grouped = await sideBySide(
      9,
      async (round) => {
        const ledger = await openLedger(`sqlite:${file(`ours-${round}.db`)}`)
        const time = await seconds(() => appendGrouped(ledger))
        await ledger.close()
        return time
      },
      (round) => bare(file(`bare-${round}.db`), rows, GROUP),
    )

    const few: BareRows = { events: rows.events.slice(0, SINGLE), payloads: rows.payloads.slice(0, SINGLE) }
    const single = await sideBySide(
      9,
      async (round) => {
        const ledger = await openLedger(`sqlite:${file(`single-${round}.db`)}`)
        const time = await seconds(async () => {
          for (let i = 0; i < SINGLE; i++) await ledger.record(INPUTS[i] ?? event(i, 'r'))
        })
        await ledger.close()
        return time
      },
      (round) => bare(file(`auto-${round}.db`), few, 1),
    )
    const interleaved = await sideBySide(
      5,
      async (round) => {
        const ledger = await openLedger(`sqlite:${file(`mixed-${round}.db`)}`)
        const time = await seconds(() => recordInterleaved(ledger))
        await ledger.close()
        return time
      },
      (round) => oneTable(file(`table-${round}.db`)),
    )
    return [
      {
        name: 'record, 100 at a time, 50 runs interleaved, 500-byte events',
        ours: rate(EVENTS, interleaved.ours),
        beside: `bare insert into one table with two indexes ${rate(EVENTS, interleaved.floor)}`,
        ratio: interleaved.floor / interleaved.ours,
        least: 0.33,
      },
      {
        name: 'grouped append, 500-byte events, chain and redaction on',
        ours: rate(EVENTS, grouped.ours),
        beside: `bare insert of the same rows ${rate(EVENTS, grouped.floor)}`,
        ratio: grouped.floor / grouped.ours,
        least: 0.45,
      },
      {
        name: 'one awaited record',
        ours: micros(single.ours, SINGLE),
        beside: `bare commit of the same rows ${micros(single.floor, SINGLE)}`,
        ratio: single.ours / single.floor,
        most: 2,
      },
    ]
  })
}

async function bare(path: string, rows: BareRows, group: number): Promise<number> {
  const db = openBare(path)
  const time = await seconds(() => insertBare(db, rows, group))
  db.close()
  return time
}
