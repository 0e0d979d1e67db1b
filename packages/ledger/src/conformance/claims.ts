import type { ClewEvent, EventInput } from '../event/envelope.ts'
import type { Ledger } from '../ledger.ts'
import type { Claimed, ClaimOptions, Lease } from '../store/leases.ts'
import { assert, assertEqual } from './assert.ts'
import { type StoreTest, upTo, type World } from './world.ts'

const key = (runId: string) => ({ workspace: 'default', runId })
const event = (correlationId: string, eventType: string, payload: object = {}): EventInput => ({
  eventType,
  correlationId,
  payload: { ...payload },
})

interface Life {
  readonly agent?: string
  readonly threadId?: string
  readonly parentRunId?: string
  /** Runs under the lease after the start. */
  readonly events?: readonly EventInput[]
  /** The lease is not given back. */
  readonly isHeld?: boolean
}

/** A run as the runtime makes it: its lease is taken first, and given back when it rests. */
async function live(ledger: Ledger, runId: string, how: Life = {}): Promise<Lease> {
  const {
    agent = 'owl',
    threadId,
    parentRunId,
    events = [event(runId, 'system.workflow_paused')],
    isHeld,
  } = how
  const lease = await ledger.leases.acquire(key(runId), threadId ?? null)
  const started = event(runId, 'system.workflow_started', {
    agent,
    ...(threadId !== undefined && { threadId }),
    ...(parentRunId !== undefined && { parentRunId }),
  })
  await ledger.append([started, ...events], { epoch: lease.epoch })
  if (!isHeld) await ledger.leases.release(lease)
  return lease
}

/** Sleeps, or has a question with a time. */
const sleepUntil = (runId: string, dueMs: number): EventInput =>
  event(runId, 'system.workflow_paused', { dueAt: new Date(dueMs).toISOString() })
const asks = (runId: string): EventInput =>
  event(runId, 'ui.input_requested', { pauseId: `of ${runId}`, question: 'Go on?' })
const answers = (runId: string): EventInput =>
  event(runId, 'ui.input_received', { pauseId: `of ${runId}`, answer: 'yes' })

const claim = (
  world: World,
  ledger: Ledger,
  options: Partial<ClaimOptions> = {},
  agents: readonly string[] = ['owl'],
): Promise<Claimed> =>
  ledger.leases.claim({ workspace: 'default', agents, nowMs: world.ports.now(), limit: 100, ...options })

const idsOf = ({ leases }: Claimed): string[] => leases.map(({ runId }) => runId)

export const claimTests: readonly StoreTest[] = [
  {
    rule: 'R9',
    title: 'a claim takes what waits for its agent, and nothing that asks, works, has ended or is blocked',
    async run(world) {
      const ledger = await world.open()
      await live(ledger, 'fork')
      await live(ledger, 'answered', {
        events: [asks('answered'), event('answered', 'system.workflow_paused')],
      })
      await ledger.append([answers('answered')])
      await live(ledger, 'orphan', { events: [] })
      await ledger.append([event('orphan', 'system.workflow_interrupted')])
      await live(ledger, 'asking', { events: [asks('asking'), event('asking', 'system.workflow_paused')] })
      await live(ledger, 'working', { events: [], isHeld: true })
      await live(ledger, 'blocked', { events: [event('blocked', 'system.workflow_blocked')] })
      for (const end of ['completed', 'failed', 'stopped'])
        await live(ledger, end, { events: [event(end, `system.workflow_${end}`)] })
      await live(ledger, 'child', { parentRunId: 'working' })
      await live(ledger, 'of another agent', { agent: 'cat' })
      const taken = await claim(world, ledger)
      assertEqual(idsOf(taken), ['fork', 'answered', 'orphan'], 'claimed')
      assertEqual(
        taken.leases.map(({ epoch }) => epoch),
        [2, 2, 2],
        'epochs',
      )
      assertEqual(idsOf(await claim(world, ledger)), [], 'claimed again')
      assertEqual(
        idsOf(await claim(world, ledger, {}, ['cat', 'dog'])),
        ['of another agent'],
        'the other agent',
      )
      assertEqual(idsOf(await claim(world, ledger, {}, [])), [], 'for no agent')
    },
  },
  {
    rule: 'R9',
    title: 'what was never leased here is not claimed: imported runs, and those that others record',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([
        event('foreign', 'system.workflow_started', { agent: 'owl' }),
        event('foreign', 'system.workflow_paused'),
      ])
      assertEqual((await ledger.getRun('foreign'))?.status, 'pending', 'status')
      assertEqual(idsOf(await claim(world, ledger, { orphans: true })), [], 'claimed')
      await ledger.leases.release(await ledger.leases.acquire(key('foreign')))
      assertEqual(idsOf(await claim(world, ledger)), ['foreign'], 'once somebody ran it here')
    },
  },
  {
    rule: 'R9',
    title: 'a claimed lease is a lease: it fences, is renewed and given back',
    async run(world) {
      const [one, two] = [await world.open(), await world.open()]
      await live(one, 'r')
      const [lease] = (await claim(world, one)).leases
      assert(lease !== undefined, 'the lease')
      const resumed = event('r', 'system.workflow_resumed', { reason: 'pending' })
      await one.append([resumed], { epoch: lease.epoch })
      await one.leases.renew(lease)
      assertEqual(
        (await two.leases.list()).map(({ runId, state }) => [runId, state]),
        [['r', 'alive']],
        'held',
      )
      await one.append([event('r', 'system.workflow_paused')], { epoch: lease.epoch })
      await one.leases.release(lease)
      assertEqual((await claim(world, two)).leases[0]?.epoch, 3, 'the next epoch')
    },
  },
  {
    rule: 'R9',
    title: 'sleeping runs and questions with a time are claimed when they are due; the next time is told',
    async run(world) {
      const ledger = await world.open()
      const now = world.ports.now()
      await live(ledger, 'asleep', { events: [sleepUntil('asleep', now + 60_000)] })
      await live(ledger, 'asking', { events: [asks('asking'), sleepUntil('asking', now + 30_000)] })
      const early = await claim(world, ledger)
      assertEqual([early.leases, early.nextDueMs], [[], now + 30_000], 'before their time')
      const first = await claim(world, ledger, { nowMs: now + 30_000 })
      assertEqual([idsOf(first), first.nextDueMs], [['asking'], now + 60_000], 'the first that is due')
      assertEqual((await claim(world, ledger, {}, ['cat'])).nextDueMs, null, 'for another agent')
      const last = await claim(world, ledger, { nowMs: now + 90_000 })
      assertEqual([idsOf(last), last.nextDueMs], [['asleep'], null], 'the last')
    },
  },
  {
    rule: 'R9',
    title: 'those that wait longest are claimed first, whatever their agent, and no more than asked for',
    async run(world) {
      const ledger = await world.open()
      const start = world.ports.now()
      for (const n of upTo(6)) {
        world.turnClock(1000)
        await live(ledger, `r${n}`, { agent: n % 2 ? 'owl' : 'cat' })
      }
      await live(ledger, 'due', { agent: 'cat', events: [sleepUntil('due', start)] })
      const both = ['owl', 'cat']
      assertEqual(
        idsOf(await claim(world, ledger, { limit: 3, except: ['r2'] }, both)),
        ['due', 'r1', 'r3'],
        'first',
      )
      assertEqual(idsOf(await claim(world, ledger, {}, both)), ['r2', 'r4', 'r5', 'r6'], 'then')
    },
  },
  {
    rule: 'R9',
    title: 'of a thread one run is claimed, and none while another run of it is held',
    async run(world) {
      const ledger = await world.open()
      await live(ledger, 'a', { threadId: 't' })
      await live(ledger, 'b', { threadId: 't' })
      await live(ledger, 'c', { threadId: 'u' })
      const first = await claim(world, ledger)
      assertEqual(idsOf(first), ['a', 'c'], 'one of each thread')
      assertEqual(idsOf(await claim(world, ledger)), [], 'while it is held')
      await ledger.append([event('a', 'system.workflow_completed')], { epoch: 2 })
      await ledger.leases.release(first.leases[0] as Lease)
      assertEqual(idsOf(await claim(world, ledger)), ['b'], 'the next one')
    },
  },
  {
    rule: 'R9',
    title: 'a run that runs by its record while nobody holds it is claimed as an orphan, when asked for',
    async run(world) {
      const ledger = await world.open()
      await live(ledger, 'left', { events: [] })
      await live(ledger, 'child', { events: [], parentRunId: 'left' })
      await live(ledger, 'held', { events: [], isHeld: true })
      assertEqual(idsOf(await claim(world, ledger)), [], 'not asked for')
      assertEqual(idsOf(await claim(world, ledger, { orphans: true })), ['left'], 'asked for')
    },
  },
  {
    rule: 'R9',
    title: 'of many that claim at once each run goes to exactly one',
    async run(world) {
      const ledgers = await Promise.all(upTo(3).map(() => world.open()))
      const [first] = ledgers as [Ledger]
      const runIds = upTo(20).map((n) => `r${String(n).padStart(2, '0')}`)
      for (const runId of runIds) await live(first, runId, { threadId: `t${runId}` })
      const taken: string[] = []
      for (let rounds = 0; taken.length < runIds.length && rounds < 50; rounds++) {
        const claims = await Promise.all(
          upTo(9).map((n) => claim(world, ledgers[n % 3] as Ledger, { limit: 2 })),
        )
        taken.push(...claims.flatMap(idsOf))
      }
      assertEqual(taken.toSorted(), runIds, 'claimed')
      const events: ClewEvent[] = []
      for await (const each of first.read('r01')) events.push(each)
      assertEqual(events.length, 2, 'events: a claim writes none')
    },
  },
  {
    rule: 'R9',
    title: 'a rebuild of the rows leaves what can be claimed',
    async run(world) {
      const ledger = await world.open()
      const now = world.ports.now()
      await live(ledger, 'pending')
      await live(ledger, 'asleep', { events: [sleepUntil('asleep', now + 60_000)] })
      await live(ledger, 'ended', { events: [event('ended', 'system.workflow_completed')] })
      await ledger.rebuild()
      assertEqual((await claim(world, ledger)).nextDueMs, now + 60_000, 'the next time')
      await ledger.leases.release((await ledger.leases.list())[0] as Lease)
      assertEqual(
        idsOf(await claim(world, ledger, { nowMs: now + 60_000 })),
        ['pending', 'asleep'],
        'claimed',
      )
    },
  },
]
