import { writeSync } from 'node:fs'
import { ClewError, type EventInput } from '@clew/ledger'
import { readMigrations } from '../src/migrate.ts'
import { openLedger } from './harness.ts'

/** What other processes do in the tests: `node child.ts COMMAND URL …`, one JSON line per answer. */
const [, , command = '', url = '', ...rest] = process.argv
const say = (answer: unknown): void => void writeSync(1, `${JSON.stringify(answer)}\n`)
const note = (runId: string, payload: Record<string, unknown>): EventInput => ({
  eventType: 'execution.note',
  correlationId: runId,
  payload,
})

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  /** Further arguments are further migrations. */
  async open() {
    try {
      const ledger = await openLedger(url, { migrations: [...readMigrations(), ...rest] })
      await ledger.record(note('opened', { pid: process.pid }))
      await ledger.close()
      say('ok')
    } catch (error) {
      say(error instanceof ClewError ? error.code : String(error))
    }
  },

  /** Appends COUNT events, each third to a run that all share. */
  async append() {
    const [who = '', count = '0'] = rest
    const ledger = await openLedger(url)
    for (let n = 0; n < Number(count); ) {
      const calls: Promise<unknown>[] = []
      for (let i = 0; i < 50 && n < Number(count); i++, n++)
        calls.push(ledger.record(note(n % 3 === 0 ? 'shared' : `run-${who}`, { who, n })))
      await Promise.all(calls)
    }
    await ledger.close()
    say('done')
  },

  /** Follows everything from the beginning, COUNT events long; says what was wrong with them. */
  async follow() {
    const ledger = await openLedger(url)
    const seqs = new Map<string, number>()
    let [seen, position] = [0, 0]
    let wrong = ''
    for await (const event of ledger.follow()) {
      const { ledger: place, correlationId } = event
      const expected = (seqs.get(correlationId) ?? 0) + 1
      if (place.seq !== expected)
        wrong ||= `${correlationId}: seq ${place.seq} where ${expected} was expected`
      if (place.position <= position) wrong ||= `position ${place.position} after ${position}`
      seqs.set(correlationId, place.seq)
      position = place.position
      if (++seen === 1) say('following')
      if (seen >= Number(rest[0])) break
    }
    await ledger.close()
    say({ seen, wrong, seqs: Object.fromEntries(seqs) })
  },

  /** Appends to RUN for ever, three at a time, and says the number of each that was acknowledged. */
  async write() {
    const [runId = '', first = '0'] = rest
    const ledger = await openLedger(url)
    for (let n = Number(first); ; n += 3) {
      const numbers = [n, n + 1, n + 2]
      await Promise.all(
        numbers.map(async (each) => {
          await ledger.record(note(runId, { n: each }))
          say(each)
        }),
      )
    }
  },
}

await COMMANDS[command]?.()
