import { join } from 'node:path'
import { type EventInput, type Ledger, openLedger } from 'clew'
import { type BareRows, insertBare, openBare, readRows } from '../bare-rows.ts'
import { type Figure, inTempFolder, micros, prose, rate, seconds, sideBySide } from '../measure.ts'

const EVENTS = 50_000
const GROUP = 100
const SINGLE = 3000

/** About 500 bytes with its envelope. */
const event = (i: number, runId: string): EventInput => ({
  eventType: 'execution.message',
  correlationId: runId,
  payload: { role: 'assistant', content: prose(300, i % 997), index: i },
})

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
          for (let i = 0; i < SINGLE; i++) await ledger.record(INPUTS[i] as EventInput)
        })
        await ledger.close()
        return time
      },
      (round) => bare(file(`auto-${round}.db`), few, 1),
    )
    return [
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
