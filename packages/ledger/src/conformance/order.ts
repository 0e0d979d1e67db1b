import type { ClewEvent } from '../event/envelope.ts'
import { assert, assertEqual } from './assert.ts'
import { createRandom } from './random.ts'
import { note, readAll, seqs, type StoreTest, upTo } from './world.ts'

const positions = (events: readonly ClewEvent[]): number[] => events.map((event) => event.ledger.position)

function assertRising(list: readonly number[], what: string): void {
  for (let i = 1; i < list.length; i++)
    assert((list[i] as number) > (list[i - 1] as number), `${what}: ${list[i - 1]} is followed by ${list[i]}`)
}

export const orderTests: readonly StoreTest[] = [
  {
    rule: 'L3',
    title: 'seq is dense under 50 concurrent appenders on one run, over two connections',
    async run(world) {
      const ledgers = [await world.open(), await world.open()]
      const appender = async (who: number): Promise<ClewEvent[]> => {
        const own: ClewEvent[] = []
        for (let n = 0; n < 6; n++) {
          const batch = Array.from({ length: 1 + (who % 3) }, (_, i) => note('r', { who, n, i }))
          own.push(...(await (ledgers[who % 2] as (typeof ledgers)[0]).append(batch)))
        }
        return own
      }
      const acknowledged = await Promise.all(upTo(50).map(appender))
      const events = await readAll(await world.open(), 'r')
      assertEqual(seqs(events), upTo(events.length), 'seq')
      assertRising(positions(events), 'positions')
      assertEqual(events.length, acknowledged.flat().length, 'events')
      const bySeq = new Map(events.map((event) => [event.ledger.seq, event]))
      for (const own of acknowledged) {
        assertRising(seqs(own), 'what one appender wrote stands in its order')
        for (const event of own) assertEqual(bySeq.get(event.ledger.seq), event, 'what was acknowledged')
      }
    },
  },
  {
    rule: 'L3',
    title: 'seq is dense in each of many runs written at once, positions are total',
    async run(world) {
      const ledgers = [await world.open(), await world.open()]
      const random = createRandom(7)
      await Promise.all(
        upTo(300).map((n) => {
          const runs = Array.from({ length: 1 + random.below(3) }, () => `run-${random.below(12)}`)
          return random.pick(ledgers).append(runs.map((runId) => note(runId, { n })))
        }),
      )
      const [ledger] = ledgers as [(typeof ledgers)[0]]
      const all: number[] = []
      for (const { runId, events: count } of (await ledger.listRuns({ limit: 100 })).runs) {
        const events = await readAll(ledger, runId)
        assertEqual(seqs(events), upTo(count), `seq in ${runId}`)
        assertRising(positions(events), `positions in ${runId}`)
        all.push(...positions(events))
      }
      assertEqual(new Set(all).size, all.length, 'no position is given twice')
      const store = await world.openStore()
      await world.until(
        'all are told',
        async () => (await store.info('lastPosition')).lastPosition === Math.max(...all),
      )
      const inOrder = await store.readAll({ afterPosition: 0, limit: 10_000 })
      assertEqual(
        inOrder.map((event) => event.position),
        all.toSorted((a, b) => a - b),
        'the ledger by position',
      )
      assertEqual(
        (await store.info('newestPosition')).newestPosition,
        Math.max(...all),
        'the newest position',
      )
    },
  },
  {
    rule: 'L3',
    title: 'a run is read by seq from any place, in pages of any size, by types',
    async run(world) {
      const ledger = await world.open()
      // More than one page of any reasonable reader.
      const inputs = upTo(1203).map((n) => ({
        ...note('r', { n }),
        eventType: n % 7 === 0 ? 'ui.seven' : 'execution.n',
      }))
      await ledger.append(inputs)
      assertEqual(seqs(await readAll(ledger, 'r')), upTo(1203), 'all')
      assertEqual(seqs(await readAll(ledger, 'r', { afterSeq: 1200 })), [1201, 1202, 1203], 'after 1200')
      assertEqual(
        seqs(await readAll(ledger, 'r', { afterSeq: 499, limit: 502 })),
        upTo(1001, 500),
        'a window',
      )
      assertEqual(await readAll(ledger, 'r', { afterSeq: 1203 }), [], 'after the last')
      assertEqual(await readAll(ledger, 'r', { afterSeq: 99_999 }), [], 'far after the last')
      assertEqual(await readAll(ledger, 'r', { limit: 0 }), [], 'none')
      const sevens = await readAll(ledger, 'r', { types: ['ui.seven'], afterSeq: 7, limit: 3 })
      assertEqual(seqs(sevens), [14, 21, 28], 'by type')
      assertEqual((await readAll(ledger, 'r', { types: ['ui.seven'] })).length, 171, 'all of a type')
      assertEqual(await readAll(ledger, 'r', { types: [] }), [], 'no types')
      assertEqual(await readAll(ledger, 'unknown'), [], 'an unknown run')
    },
  },
  {
    rule: 'L3',
    title: 'recordedAt never goes back within a run, whatever the clock does, also into a fork',
    async run(world) {
      const ledger = await world.open()
      await ledger.record(note('r'))
      world.turnClock(3_600_000)
      await ledger.record(note('r'))
      world.turnClock(-7_200_000)
      await ledger.append([note('r'), note('r')])
      await ledger.record({
        eventType: 'system.workflow_forked',
        correlationId: 'f',
        payload: { sourceRunId: 'r', sourceSeq: 4 },
      })
      await ledger.record(note('f'))
      for (const runId of ['r', 'f']) {
        const times = (await readAll(ledger, runId)).map((event) => event.ledger.recordedAt)
        assertEqual(times, times.toSorted(), `times in ${runId}`)
      }
      assert((await ledger.verify()).ok, 'the chain verifies')
    },
  },
]
