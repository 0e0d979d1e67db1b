import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLedger } from 'clew'
import { connect, insertBare, readRows } from './bare-postgres.ts'
import { GROUP, groupsOf } from './postgres-events.ts'

/**
 * `node postgres-writer.ts HOW URL WHO EVENTS [ROWS]`: says `ready`, waits for a line, writes, says `done`.
 * `ours` and `bare` write as fast as they can; `paced` writes 10 events every 5 ms.
 */
const [, , how, url = '', who = '0', events = '0', rowsUrl = ''] = process.argv
const count = Number(events)
/** Written before, so that a process is judged when its code is compiled: until then it goes on compiling beside. */
const WARM = 20_000
const say = (word: string): void => void process.stdout.write(`${word}\n`)

async function go(): Promise<void> {
  say('ready')
  await once(process.stdin, 'data')
}

if (how === 'bare') {
  const rows = await readRows(rowsUrl, WARM + count, Number(who) + 1)
  const { client } = await connect(url)
  await insertBare(client, rows, GROUP, 0, WARM)
  await go()
  await insertBare(client, rows, GROUP, WARM)
  say('done')
  await client.end()
} else {
  const ledger = await openLedger(url)
  const groups = groupsOf(count, how === 'paced' ? 10 : GROUP, (i) => `run-${who}-${i % 10}`)
  for (const group of how === 'paced' ? [] : groupsOf(WARM, GROUP, (i) => `warm-${who}-${i % 10}`))
    await ledger.append(group)
  await go()
  const start = performance.now()
  for (const [n, group] of groups.entries()) {
    if (how === 'paced') await sleep(Math.max(0, start + n * 5 - performance.now()))
    await ledger.append(group)
  }
  say('done')
  await ledger.close()
}
process.exit()
