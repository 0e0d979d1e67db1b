import { assert, assertEqual, assertRefused } from './assert.ts'
import { forked, note, readAll, seqs, started, type StoreTest, upTo } from './world.ts'

export const forkTests: readonly StoreTest[] = [
  {
    rule: 'R7',
    title: 'what comes from a run is found: children and forks, also those that part in what a fork shares',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([started('r'), ...upTo(5).map((n) => note('r', { n }))])
      await ledger.record(started('child', { parentRunId: 'r' }))
      await ledger.record(started('other', { parentRunId: 'someone' }))
      await ledger.record(forked('early', 'r', 2))
      await ledger.record(forked('late', 'r', 5))
      await ledger.record(forked('of late', 'late', 6))
      await ledger.record(forked('in what late shares', 'late', 3))
      await ledger.record(started('child of late', { parentRunId: 'late' }))
      const below = async (...runIds: string[]): Promise<string[]> =>
        (await ledger.findBelow(runIds)).map(({ runId }) => runId)
      assertEqual(await below('r'), ['child', 'early', 'late'], 'below the first')
      assertEqual(await below('late'), ['of late', 'in what late shares', 'child of late'], 'below the fork')
      assertEqual(await below('early', 'child', 'nobody'), [], 'below the others')
      assertEqual(
        await below('late', 'r'),
        ['child', 'early', 'late', 'of late', 'in what late shares', 'child of late'],
        'below both',
      )
      assertEqual(await below(), [], 'below none')
      const elsewhere = await world.open({ workspace: 'elsewhere' })
      assertEqual(await elsewhere.findBelow(['r']), [], 'in another workspace')
      await ledger.rebuild()
      assertEqual(await below('r'), ['child', 'early', 'late'], 'after a rebuild')
    },
  },
  {
    rule: 'R7',
    title: 'a fork shares the first n events, begins at n + 1 and chains to the hash of n',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([
        started('r', { agent: 'owl', threadId: 't', subjects: ['p'] }),
        ...upTo(5).map((n) => note('r', { n })),
      ])
      const source = await readAll(ledger, 'r')
      const before = await ledger.stats()
      const first = await ledger.record(forked('f', 'r', 4))
      assertEqual(first.ledger.seq, 5, 'seq of its first own event')
      assertEqual((await ledger.stats()).events, before.events + 1, 'nothing is copied')
      await ledger.append([note('f', { own: 1 }), note('r', { n: 6 })])
      const fork = await readAll(await world.open(), 'f')
      assertEqual(fork.slice(0, 4), source.slice(0, 4), 'the shared events')
      assertEqual(seqs(fork), upTo(6), 'seq')
      assertEqual((await readAll(ledger, 'r')).slice(0, 6), source, 'the source is untouched')
      const summary = await ledger.getRun('f')
      assertEqual(
        [summary?.agent, summary?.threadId, summary?.subjects],
        ['owl', 't', ['p']],
        'what it inherits',
      )
      assertEqual(summary?.forkedFrom, { runId: 'r', seq: 4 }, 'its lineage')
      assert((await ledger.verify('f', { projections: true })).ok, 'it verifies')
    },
  },
  {
    rule: 'R7',
    title: 'reads of a fork window over the border between prefix and own events',
    async run(world) {
      const ledger = await world.open()
      await ledger.append(
        upTo(700).map((n) => ({ ...note('r', { n }), eventType: n % 2 ? 'ui.odd' : 'ui.even' })),
      )
      await ledger.append([
        forked('f', 'r', 600),
        ...upTo(700, 602).map((n) => ({ ...note('f', { n }), eventType: 'ui.odd' })),
      ])
      assertEqual(seqs(await readAll(ledger, 'f')), upTo(700), 'all')
      assertEqual(
        seqs(await readAll(ledger, 'f', { afterSeq: 597, limit: 6 })),
        upTo(603, 598),
        'over the border',
      )
      assertEqual(
        seqs(await readAll(ledger, 'f', { afterSeq: 600, limit: 2 })),
        [601, 602],
        'from the border',
      )
      assertEqual(seqs(await readAll(ledger, 'f', { afterSeq: 650 })), upTo(700, 651), 'own only')
      const odd = seqs(await readAll(ledger, 'f', { types: ['ui.odd'] }))
      assertEqual(odd, [...upTo(600).filter((n) => n % 2 === 1), ...upTo(700, 602)], 'by type')
    },
  },
  {
    rule: 'R7',
    title: 'fork of a fork, and a fork inside the shared prefix, find the run that owns the event',
    async run(world) {
      const ledger = await world.open()
      await ledger.append(upTo(6).map((n) => note('a', { at: `a${n}` })))
      await ledger.append([forked('b', 'a', 4), note('b', { at: 'b6' })])
      await ledger.append([forked('c', 'b', 6), note('c', { at: 'c8' })])
      await ledger.append([forked('d', 'c', 2), note('d', { at: 'd4' })])
      await ledger.append([forked('e', 'c', 5), note('e', { at: 'e7' })])
      // The very event at which b left a: it is a's.
      await ledger.append([forked('g', 'b', 4), note('g', { at: 'g6' })])
      const at = async (runId: string): Promise<unknown[]> =>
        (await readAll(ledger, runId)).map((event) => event.payload['at'] ?? 'fork')
      assertEqual(await at('b'), ['a1', 'a2', 'a3', 'a4', 'fork', 'b6'], 'b')
      assertEqual(await at('c'), ['a1', 'a2', 'a3', 'a4', 'fork', 'b6', 'fork', 'c8'], 'c')
      assertEqual(await at('d'), ['a1', 'a2', 'fork', 'd4'], 'd')
      assertEqual(await at('e'), ['a1', 'a2', 'a3', 'a4', 'fork', 'fork', 'e7'], 'e')
      assertEqual(await at('g'), ['a1', 'a2', 'a3', 'a4', 'fork', 'g6'], 'g')
      const { ok, problems } = await ledger.verify(undefined, { projections: true })
      assert(ok, JSON.stringify(problems))
    },
  },
  {
    rule: 'R7',
    title: 'a lineage of 30 forks reads, verifies and goes on',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([note('f0', { n: 1 }), note('f0', { n: 2 })])
      for (const n of upTo(30))
        await ledger.append([forked(`f${n}`, `f${n - 1}`, 2 * n), note(`f${n}`, { n })])
      const deep = await readAll(await world.open(), 'f30')
      assertEqual(seqs(deep), upTo(62), 'seq')
      assertEqual(
        deep.map((event) => event.correlationId),
        upTo(62).map((seq) => `f${Math.floor((seq - 1) / 2)}`),
        'owners',
      )
      await ledger.record(forked('inside', 'f30', 31))
      assertEqual(seqs(await readAll(ledger, 'inside')), upTo(32), 'a fork into the middle')
      assert((await ledger.verify(undefined, { projections: true })).ok, 'it verifies')
    },
  },
  {
    rule: 'R7',
    title: 'a fork beyond the end, of an unknown run or of itself is refused, and nothing is written',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([note('r'), note('r')])
      await assertRefused(() => ledger.record(forked('f', 'r', 3)), 'not_found', { runId: 'r', seq: 3 })
      await assertRefused(() => ledger.record(forked('f', 'nobody', 1)), 'not_found', { runId: 'nobody' })
      await assertRefused(() => ledger.record(forked('f', 'f', 1)), 'not_found', { runId: 'f' })
      await assertRefused(() => ledger.append([note('q'), forked('f', 'r', 9)]), 'not_found', { seq: 9 })
      assertEqual((await ledger.stats()).runs, 1, 'runs')
      const other = await world.open({ workspace: 'other' })
      await assertRefused(() => other.record(forked('f', 'r', 1)), 'not_found', { runId: 'r' })
    },
  },
  {
    rule: 'R7',
    title: 'an id of the shared prefix is new in the fork, an own one is known',
    async run(world) {
      const ledger = await world.open()
      const shared = await ledger.record(note('r', { n: 1 }))
      const own = await ledger.record(forked('f', 'r', 1))
      assertEqual((await ledger.append([own]))[0]?.ledger, own.ledger, 'the fork event again')
      const again = await ledger.record({ ...note('f', { n: 1 }), eventId: shared.eventId })
      assertEqual(again.ledger.seq, 3, 'an event of its own')
      const { ok } = await ledger.verify(undefined, { projections: true })
      assert(ok, 'it verifies')
    },
  },
]
