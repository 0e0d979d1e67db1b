import { appendMany, followMany, note, say, sayWhetherOpens } from '../../ledger/test/child-acts.ts'
import { MIGRATIONS } from '../src/migrations.ts'
import { openLedger } from './harness.ts'

/** What other processes do in the tests: `node child.ts COMMAND URL …`, one JSON line per answer. */
const [, , command = '', url = '', ...rest] = process.argv

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  /** Further arguments are further migrations. */
  open: () => sayWhetherOpens(() => openLedger(url, { migrations: [...MIGRATIONS, ...rest] })),

  /** Appends COUNT events, each third to a run that all share. */
  append: async () =>
    appendMany(await openLedger(url), {
      who: rest[0] ?? '',
      count: Number(rest[1]),
      atOnce: 50,
      sharedEach: 3,
    }),

  /** Follows everything from the beginning, COUNT events long; says what was wrong with them. */
  follow: async () => followMany(await openLedger(url), Number(rest[0])),

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
