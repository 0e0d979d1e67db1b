import type { PayloadOf } from '../catalogue/catalogue.ts'
import type { EventInput } from '../event/envelope.ts'
import type { Ledger } from '../ledger.ts'
import type { Claimed, ClaimOptions, Lease } from '../store/leases.ts'
import { assert, assertEqual } from './assert.ts'
import { type StoreTest, upTo, type World } from './world.ts'

type Submission = Partial<PayloadOf<'system.workflow_submitted'>>

const event = (correlationId: string, eventType: string, payload: object = {}): EventInput => ({
  eventType,
  correlationId,
  payload: { ...payload },
})

const submission = (runId: string, payload: Submission = {}): EventInput =>
  event(runId, 'system.workflow_submitted', { agent: 'owl', ...payload })

/** Submits runs one after the other, which is the order of their turns. */
async function submit(ledger: Ledger, runIds: readonly string[], payload: Submission = {}): Promise<void> {
  for (const runId of runIds) await ledger.append([submission(runId, payload)], { expectedSeq: 0 })
}

const claim = (world: World, ledger: Ledger, options: Partial<ClaimOptions> = {}): Promise<Claimed> =>
  ledger.leases.claim({
    workspace: 'default',
    agents: ['owl'],
    nowMs: world.ports.now(),
    limit: 100,
    ...options,
  })

const idsOf = ({ leases }: Claimed): string[] => leases.map(({ runId }) => runId)
const begin = (ledger: Ledger, { runId, epoch }: Lease): Promise<unknown> =>
  ledger.append([event(runId, 'system.workflow_started', { agent: 'owl' })], { epoch })

async function end(ledger: Ledger, lease: Lease): Promise<void> {
  await begin(ledger, lease)
  await ledger.append([event(lease.runId, 'system.workflow_completed')], { epoch: lease.epoch })
  await ledger.leases.release(lease)
}

/** Asks a question and gives its lease back. */
async function pause(ledger: Ledger, lease: Lease): Promise<void> {
  await begin(ledger, lease)
  const { runId, epoch } = lease
  await ledger.append(
    [
      event(runId, 'ui.input_requested', { pauseId: `of ${runId}`, question: 'Go on?' }),
      event(runId, 'system.workflow_paused'),
    ],
    { epoch },
  )
  await ledger.leases.release(lease)
}

const answer = (ledger: Ledger, runId: string): Promise<unknown> =>
  ledger.append([event(runId, 'ui.input_received', { pauseId: `of ${runId}`, answer: 'yes' })])

export const queueTests: readonly StoreTest[] = [
  {
    rule: 'W1',
    title:
      'a submitted run is pending and can be claimed by whoever has its agent; a start makes it a run like any other',
    async run(world) {
      const [one, two] = [await world.open(), await world.open()]
      await submit(one, ['a'], { input: { n: 1 }, tags: { customer: 'acme' }, threadId: 't' })
      const waiting = await one.getRun('a')
      assertEqual(
        [waiting?.status, waiting?.agent, waiting?.threadId, waiting?.queue, waiting?.waiting, waiting?.tags],
        ['pending', 'owl', 't', 'default', true, { customer: 'acme' }],
        'while it waits',
      )
      assertEqual(idsOf(await claim(world, two, { agents: ['cat'] })), [], 'for another agent')
      const [lease] = (await claim(world, two)).leases
      assertEqual([lease?.runId, lease?.epoch, lease?.threadId], ['a', 1, 't'], 'the lease')
      assertEqual(idsOf(await claim(world, one)), [], 'claimed again')
      await begin(two, lease as Lease)
      const begun = await one.getRun('a')
      assertEqual([begun?.status, begun?.waiting, begun?.queue], ['running', undefined, 'default'], 'begun')
      assertEqual((await one.verify('a')).problems, [], 'problems')
    },
  },
  {
    rule: 'W1',
    title: 'a run whose worker let go before it began waits again; one that was stopped or imported does not',
    async run(world) {
      const ledger = await world.open()
      await submit(ledger, ['a', 'b', 'stopped'])
      const first = await claim(world, ledger, { limit: 1 })
      assertEqual(idsOf(first), ['a'], 'claimed')
      await ledger.leases.release(first.leases[0] as Lease)
      const key = { workspace: 'default', runId: 'stopped' }
      const stopper = await ledger.leases.acquire(key, null)
      await ledger.append([event('stopped', 'system.workflow_stopped')], { epoch: stopper.epoch })
      await ledger.leases.release(stopper)
      assertEqual(idsOf(await claim(world, ledger)), ['a', 'b'], 'claimed again, in the same turn')
    },
  },
  {
    rule: 'W1',
    title:
      'the same submission is answered with the run that is there, another one under its id is a conflict',
    async run(world) {
      const ledger = await world.open()
      const eventId = '01a1de9d-ee42-7060-86c1-531be0d764ed'
      const given = { ...submission('a', { input: 1 }), eventId }
      const [first] = await ledger.append([given], { expectedSeq: 0 })
      const [again] = await ledger.append([given], { expectedSeq: 0 })
      assertEqual(again?.ledger.position, first?.ledger.position, 'its place')
      const other = await ledger
        .append([{ ...submission('a', { input: 2 }), eventId }], { expectedSeq: 0 })
        .catch((error: unknown) => (error as { code: string }).code)
      assertEqual(other, 'conflict', 'another input')
      assertEqual(idsOf(await claim(world, ledger)), ['a'], 'claimed')
    },
  },
  {
    rule: 'W4',
    title:
      'higher priority first, within it keys take turns, within a key in order; re-entering runs before all',
    async run(world) {
      const ledger = await world.open()
      await submit(ledger, ['p'], { key: 'z' })
      await pause(ledger, (await claim(world, ledger)).leases[0] as Lease)
      await submit(ledger, ['a1', 'a2', 'a3', 'a4'], { key: 'a' })
      await submit(ledger, ['b1', 'b2'], { key: 'b' })
      await submit(ledger, ['c1'], { key: 'c', queue: 'other' })
      await submit(ledger, ['high'], { key: 'a', priority: 5 })
      await submit(ledger, ['low'], { key: 'd', priority: -1 })
      await answer(ledger, 'p')
      assertEqual(idsOf(await claim(world, ledger, { limit: 2 })), ['p', 'high'], 'first')
      const next = idsOf(await claim(world, ledger, { limit: 3 }))
      assertEqual(next.toSorted(), ['a1', 'b1', 'c1'], 'one of each key')
      // Two took a turn, so a newcomer stands beside what waits now and not behind it.
      await submit(ledger, ['e1'], { key: 'e' })
      assertEqual(idsOf(await claim(world, ledger, { limit: 3 })).toSorted(), ['a2', 'b2', 'e1'], 'then')
      assertEqual(idsOf(await claim(world, ledger)), ['a3', 'a4', 'low'], 'last')
    },
  },
  {
    rule: 'W4',
    title: 'one run of a key does not wait behind hundreds of another, whoever came first',
    async run(world) {
      const ledger = await world.open()
      const many = upTo(300).map((n) => `many${n}`)
      await ledger.append(many.map((runId) => submission(runId, { key: 'big' })))
      await submit(ledger, ['single'], { key: 'small' })
      const first = idsOf(await claim(world, ledger, { limit: 2 }))
      assert(first.includes('single'), `the small key among the first two: ${first.join(', ')}`)
    },
  },
  {
    rule: 'W4',
    title:
      'a queue runs no more at a time than its limit, over all claimers; what rests holds no slot and comes first',
    async run(world) {
      const [one, two] = [await world.open(), await world.open()]
      const limits = [{ queue: 'mail', concurrency: 2 }]
      await submit(one, ['m1', 'm2', 'm3', 'm4'], { queue: 'mail' })
      await submit(one, ['free'])
      const claims = await Promise.all([claim(world, one, { limits }), claim(world, two, { limits })])
      const taken = claims.flatMap(({ leases }) => leases)
      assertEqual(taken.map(({ runId }) => runId).toSorted(), ['free', 'm1', 'm2'], 'at once')
      const full = await claim(world, one, { limits })
      assertEqual(idsOf(full), [], 'while it is full')
      assert(full.nextDueMs !== null, 'it is to be asked again')
      const [m1, m2] = ['m1', 'm2'].map((id) => taken.find(({ runId }) => runId === id) as Lease)
      await pause(one, m1 as Lease)
      assertEqual(idsOf(await claim(world, one, { limits })), ['m3'], 'in place of one that asks')
      await answer(one, 'm1')
      assertEqual(idsOf(await claim(world, one, { limits })), [], 'an answered one needs a slot')
      await end(one, m2 as Lease)
      assertEqual(idsOf(await claim(world, two, { limits })), ['m1'], 'the answered one first')
      // A limit may change while runs wait.
      const wider = [{ queue: 'mail', concurrency: 3 }]
      assertEqual(idsOf(await claim(world, two, { limits: wider })), ['m4'], 'with another limit')
    },
  },
  {
    rule: 'W4',
    title: 'a key has its own limit, and one that has reached it holds nobody else back',
    async run(world) {
      const ledger = await world.open()
      const limits = [{ queue: 'default', concurrencyPerKey: 1 }]
      await ledger.append(upTo(200).map((n) => submission(`big${n}`, { key: 'big' })))
      await submit(ledger, ['s1', 's2'], { key: 'small' })
      await submit(ledger, ['n1', 'n2'])
      const first = idsOf(await claim(world, ledger, { limits }))
      assertEqual(first.toSorted(), ['big1', 'n1', 'n2', 's1'], 'one of each key, and all without one')
      assertEqual(idsOf(await claim(world, ledger, { limits })), [], 'while each has its run')
      await submit(ledger, ['late1', 'late2'], { key: 'late' })
      assertEqual(idsOf(await claim(world, ledger, { limits })), ['late1'], 'another key')
    },
  },
  {
    rule: 'W4',
    title: 'a queue with a rate gives so many runs in any interval, and says when the next may go',
    async run(world) {
      const ledger = await world.open()
      const limits = [{ queue: 'default', rate: { count: 2, perMs: 60_000 } }]
      await submit(ledger, ['a', 'b', 'c', 'd', 'e'])
      const began = world.ports.now()
      const first = await claim(world, ledger, { limits })
      assertEqual(idsOf(first), ['a', 'b'], 'first')
      const wait = await claim(world, ledger, { limits })
      assertEqual([idsOf(wait), (wait.nextDueMs ?? 0) >= began + 60_000], [[], true], 'in the same interval')
      assertEqual(
        idsOf(await claim(world, ledger, { limits, nowMs: began + 120_000 })),
        ['c', 'd'],
        'in the next interval',
      )
    },
  },
  {
    rule: 'W1',
    title: 'a delayed run is claimed from its time on, and nobody waits behind it before',
    async run(world) {
      const ledger = await world.open()
      const now = world.ports.now()
      const dueAt = new Date(now + 60_000).toISOString()
      await submit(ledger, ['later'], { dueAt, key: 'k', threadId: 't' })
      await submit(ledger, ['now'], { key: 'k', threadId: 't' })
      const early = await claim(world, ledger)
      assertEqual(idsOf(early), ['now'], 'before its time')
      await end(ledger, early.leases[0] as Lease)
      assertEqual((await claim(world, ledger)).nextDueMs, now + 60_000, 'the next time')
      assertEqual(idsOf(await claim(world, ledger, { nowMs: now + 60_000 })), ['later'], 'at its time')
    },
  },
  {
    rule: 'W1',
    title: 'of a thread submitted runs go one after the other: each waits until the earlier ones have ended',
    async run(world) {
      const ledger = await world.open()
      await submit(ledger, ['a', 'b', 'c'], { threadId: 't' })
      await submit(ledger, ['d'], { threadId: 'u' })
      const first = await claim(world, ledger)
      assertEqual(idsOf(first), ['a', 'd'], 'one of each thread')
      await pause(ledger, first.leases[0] as Lease)
      assertEqual(idsOf(await claim(world, ledger)), [], 'while the first one asks')
      await answer(ledger, 'a')
      const again = await claim(world, ledger)
      assertEqual(idsOf(again), ['a'], 'the first one again')
      await end(ledger, again.leases[0] as Lease)
      assertEqual(idsOf(await claim(world, ledger)), ['b'], 'the next one')
    },
  },
  {
    rule: 'W1',
    title: 'a run is due at its deadline, also one that waits, asks or sleeps, and also in a full queue',
    async run(world) {
      const ledger = await world.open()
      const now = world.ports.now()
      const deadlineAt = new Date(now + 60_000).toISOString()
      const limits = [{ queue: 'default', concurrency: 1 }]
      await submit(ledger, ['asking', 'waiting'], { deadlineAt })
      await pause(ledger, (await claim(world, ledger, { limits })).leases[0] as Lease)
      const other = await ledger.leases.acquire({ workspace: 'default', runId: 'other' }, null)
      await submit(ledger, ['other2'])
      assertEqual((await claim(world, ledger, { limits, limit: 1 })).leases.length, 1, 'fills the queue')
      const due = await claim(world, ledger, { limits, nowMs: now + 60_000 })
      assert(due.leases.length > 0 || due.nextDueMs !== null, 'something is due')
      await ledger.leases.release(other)
    },
  },
  {
    rule: 'W4',
    title: 'of many that claim at once each submitted run goes to exactly one, and limits hold',
    async run(world) {
      const ledgers = await Promise.all(upTo(3).map(() => world.open()))
      const [first] = ledgers as [Ledger]
      const limits = [{ queue: 'few', concurrency: 3, concurrencyPerKey: 2 }]
      await first.append(upTo(20).map((n) => submission(`f${n}`, { queue: 'few', key: `k${n % 2}` })))
      await first.append(upTo(20).map((n) => submission(`m${n}`, { key: `k${n % 3}` })))
      const taken: string[] = []
      let most = 0
      for (let rounds = 0; taken.length < 40 && rounds < 100; rounds++) {
        const claims = await Promise.all(
          upTo(9).map((n) => claim(world, ledgers[n % 3] as Ledger, { limit: 2, limits })),
        )
        const leases = claims.flatMap((each) => each.leases)
        taken.push(...leases.map(({ runId }) => runId))
        const held = await first.leases.list()
        most = Math.max(most, held.filter(({ runId }) => runId.startsWith('f')).length)
        for (const lease of leases) await end(first, lease)
      }
      assertEqual(new Set(taken).size, taken.length, 'claimed twice')
      assertEqual(taken.length, 40, 'claimed')
      assert(most <= 3, `at most three at a time, not ${most}`)
    },
  },
]
