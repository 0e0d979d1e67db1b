import { assert, assertEqual, assertRefused } from './assert.ts'
import { note, readAll, seqs, type StoreTest, upTo } from './world.ts'

export const commitTests: readonly StoreTest[] = [
  {
    rule: 'L5',
    title: 'acknowledged means visible to another connection, and there after reopening',
    async run(world) {
      const [writer, reader] = [await world.open(), await world.open()]
      for (const n of upTo(20)) {
        const event = await writer.record(note('r', { n }))
        assertEqual(await reader.getEvent(event.eventId), event, `event ${n}`)
        assertEqual((await reader.getRun('r'))?.events, n, 'the summary')
        assertEqual(seqs(await readAll(reader, 'r', { afterSeq: n - 1 })), [n], 'the read')
      }
      const before = await readAll(writer, 'r')
      await world.closeAll()
      const again = await world.open()
      assertEqual(await readAll(again, 'r'), before, 'after reopening')
      assertEqual((await again.record(note('r'))).ledger.seq, 21, 'the next seq')
    },
  },
  {
    rule: 'L5',
    title: 'a bad call in a group harms none of its neighbours',
    async run(world) {
      const ledger = await world.open()
      const known = await ledger.record(note('r', { known: true }))
      const clash = { ...note('r', { known: false }), eventId: known.eventId }
      const bad = [
        () => ledger.record(clash),
        () => ledger.append([note('r', { lost: 1 }), note('new', { lost: 2 }), clash]),
        () => ledger.append([note('r', { lost: 3 })], { expectedSeq: 77 }),
        () => ledger.append([note('r', { lost: 4 })], { epoch: 9 }),
        () =>
          ledger.append([
            note('r', { lost: 5 }),
            {
              eventType: 'system.workflow_forked',
              correlationId: 'fork',
              payload: { sourceRunId: 'nobody', sourceSeq: 1 },
            },
          ]),
      ]
      // One turn of the event loop: all of them share a group.
      const calls = upTo(40).flatMap((n) => [
        ledger.record(note(`run-${n % 4}`, { n })).then(() => 'ok'),
        (bad[n % bad.length] as () => Promise<unknown>)().then(
          () => 'accepted',
          () => 'refused',
        ),
      ])
      const outcomes = await Promise.all(calls)
      assertEqual(outcomes.filter((outcome) => outcome === 'ok').length, 40, 'good calls')
      assertEqual(outcomes.filter((outcome) => outcome === 'refused').length, 40, 'bad calls')
      const stats = await ledger.stats()
      assertEqual([stats.events, stats.runs], [41, 5], 'events and runs')
      assertEqual(await ledger.getRun('new'), null, 'a run that only a refused call named')
      for (const n of [0, 1, 2, 3]) assertEqual(seqs(await readAll(ledger, `run-${n}`)), upTo(10), `run-${n}`)
      const { ok, problems } = await ledger.verify(undefined, { projections: true })
      assert(ok, JSON.stringify(problems))
    },
  },
  {
    rule: 'L5',
    title: 'a batch is all or nothing, also over several runs and with values to share',
    async run(world) {
      const ledger = await world.open()
      const known = await ledger.record(note('r'))
      const before = await ledger.stats()
      const large = { list: upTo(2000).map((n) => `item ${n}`) }
      const clash = { ...note('r', { other: true }), eventId: known.eventId }
      await assertRefused(
        () => ledger.append([note('a', large), note('b', large), note('r'), clash]),
        'conflict',
        {
          item: 3,
        },
      )
      const { bytes: _, ...after } = await ledger.stats()
      const { bytes: __, ...expected } = before
      assertEqual(after, expected, 'what the store holds')
      const done = await ledger.append([note('a', large), note('b', large), note('r')])
      assertEqual(seqs(done), [1, 1, 2], 'seq')
    },
  },
  {
    rule: 'L5',
    title: 'closing settles all that was handed in, then refuses',
    async run(world) {
      const ledger = await world.open()
      const calls = upTo(500).map((n) => ledger.record(note('r', { n })))
      await ledger.close()
      assertEqual(seqs(await Promise.all(calls)), upTo(500), 'acknowledged')
      await assertRefused(() => ledger.record(note('r')), 'closed')
      await assertRefused(() => ledger.getRun('r'), 'closed')
      await assertRefused(() => readAll(ledger, 'r'), 'closed')
      await ledger.close()
      assertEqual((await readAll(await world.open(), 'r')).length, 500, 'events')
    },
  },
  {
    rule: 'L5',
    title: 'a full queue pushes back and drops nothing, also when the ledger closes',
    async run(world) {
      const ledger = await world.open()
      const text = 'x'.repeat(12 * 1024 * 1024)
      // One call that fills the queue alone, and others that must wait for room.
      const first = ledger.append(upTo(6).map((n) => note('r', { n, text })))
      const calls = upTo(9, 7).map((n) => ledger.record(note('r', { n })))
      await ledger.close()
      assertEqual(seqs([...(await first), ...(await Promise.all(calls))]), upTo(9), 'acknowledged')
    },
  },
]
