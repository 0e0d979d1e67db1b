import type { EventInput } from '../event/envelope.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { note, readAll, seqs, type StoreTest, upTo } from './world.ts'

const key = (runId: string, workspace = 'default') => ({ workspace, runId })
const step = (n: number, eventType = 'execution.step_started'): EventInput => ({
  eventType,
  correlationId: 'r',
  payload: { stepId: `s#${n}`, name: 's' },
})
const STALE_MS = 60_000

export const leaseTests: readonly StoreTest[] = [
  {
    rule: 'R9',
    title: 'one owner at a time; a release frees it, the epoch only rises',
    async run(world) {
      const [one, two] = [await world.open(), await world.open()]
      const first = await one.leases.acquire(key('r'), 't')
      assertEqual([first.epoch, first.runId, first.threadId], [1, 'r', 't'], 'the lease')
      await assertRefused(() => two.leases.acquire(key('r'), 't'), 'busy', { runId: 'r' })
      await assertRefused(() => one.leases.acquire(key('r')), 'busy', { runId: 'r' })
      assertEqual(
        (await two.leases.list()).map(({ runId, state }) => [runId, state]),
        [['r', 'alive']],
        'seen by the other',
      )
      await one.leases.release(first)
      assertEqual(await two.leases.list(), [], 'free')
      await assertRefused(() => one.leases.release(first), 'stale_epoch')
      await assertRefused(() => one.leases.renew(first), 'stale_epoch', { runId: 'r', epoch: 1 })
      const second = await two.leases.acquire(key('r'))
      assertEqual(second.epoch, 2, 'the next epoch')
      assertEqual((await one.leases.acquire(key('r', 'elsewhere'))).epoch, 1, 'another workspace')
    },
  },
  {
    rule: 'R9',
    title: 'one running run per thread, others beside it',
    async run(world) {
      const ledger = await world.open()
      const first = await ledger.leases.acquire(key('a'), 't')
      await assertRefused(() => ledger.leases.acquire(key('b'), 't'), 'busy', { runId: 'b' })
      await ledger.leases.acquire(key('c'), 'u')
      await ledger.leases.acquire(key('d'))
      await ledger.leases.acquire(key('e'), null)
      await ledger.leases.acquire(key('b', 'other'), 't')
      await ledger.leases.release(first)
      await ledger.leases.acquire(key('b'), 't')
    },
  },
  {
    rule: 'R9',
    title: 'of many that ask at once exactly one gets it',
    async run(world) {
      const ledgers = [await world.open(), await world.open()]
      const tries = await Promise.allSettled(
        upTo(12).map((n) =>
          (ledgers[n % 2] as (typeof ledgers)[0]).leases.acquire(key(n % 3 ? 'r' : `q${n}`), 't'),
        ),
      )
      assertEqual(tries.filter((each) => each.status === 'fulfilled').length, 1, 'leases')
    },
  },
  {
    rule: 'R9',
    title: 'execution events need the current epoch, checked inside the append; answers do not',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([step(0)])
      const lease = await ledger.leases.acquire(key('r'))
      await ledger.append([step(1)], { epoch: lease.epoch })
      await assertRefused(() => ledger.append([step(2)]), 'stale_epoch', { runId: 'r', current: 1 })
      await assertRefused(() => ledger.append([step(2)], { epoch: 7 }), 'stale_epoch', {
        epoch: 7,
        current: 1,
      })
      await assertRefused(() => ledger.append([note('r'), step(2)]), 'stale_epoch')
      await assertRefused(() => ledger.append([note('never leased')], { epoch: 1 }), 'stale_epoch', {
        current: 0,
      })
      const free = [
        'ui.input_received',
        'system.workflow_interrupted',
        'integration.api_called',
        'system.policy_changed',
      ]
      await ledger.append(free.map((eventType) => ({ eventType, correlationId: 'r' })))
      assertEqual(seqs(await readAll(ledger, 'r')), upTo(6), 'what was written')
      await ledger.leases.release(lease)
      await assertRefused(() => ledger.append([step(3)], { epoch: lease.epoch }), 'stale_epoch')
      await ledger.append([step(3)])
    },
  },
  {
    rule: 'R9',
    title: 'a silent owner keeps its lease for 60 s, then loses it and cannot write one event more',
    async run(world) {
      const [owner, other] = [await world.open(), await world.open()]
      const lost = await owner.leases.acquire(key('r'), 't')
      world.turnClock(STALE_MS - 5000)
      await assertRefused(() => other.leases.acquire(key('r'), 't'), 'busy')
      await owner.leases.renew(lost)
      world.turnClock(STALE_MS - 5000)
      await assertRefused(() => other.leases.acquire(key('r'), 't'), 'busy')
      world.turnClock(6000)
      assertEqual((await other.leases.list())[0]?.state, 'stale', 'state')
      await owner.append([step(1)], { epoch: lost.epoch })
      await assertRefused(() => other.append([step(2)]), 'stale_epoch', { current: 1 })
      const taken = await other.leases.acquire(key('r'), 't')
      assertEqual(taken.epoch, 2, 'epoch')
      for (const event of [step(2), note('r')])
        await assertRefused(() => owner.append([event], { epoch: lost.epoch }), 'stale_epoch', {
          epoch: 1,
          current: 2,
        })
      await assertRefused(() => owner.leases.renew(lost), 'stale_epoch')
      await assertRefused(() => owner.leases.release(lost), 'stale_epoch')
      const [second] = await other.append([step(2)], { epoch: taken.epoch })
      // Ids that are derived from a run's steps are the same for both.
      const sameId = [{ ...step(3), eventId: second?.eventId }]
      await assertRefused(() => owner.append(sameId, { epoch: lost.epoch }), 'stale_epoch', { current: 2 })
      await assertRefused(() => other.append(sameId, { epoch: taken.epoch }), 'conflict')
      assertEqual(seqs(await readAll(other, 'r')), [1, 2], 'events')
    },
  },
  {
    rule: 'R9',
    title: 'a thread taken over from a silent run fences that run too',
    async run(world) {
      const [owner, other] = [await world.open(), await world.open()]
      const lost = await owner.leases.acquire(key('r'), 't')
      world.turnClock(STALE_MS + 1000)
      await other.leases.acquire(key('next'), 't')
      await assertRefused(() => owner.leases.renew(lost), 'stale_epoch')
      await assertRefused(() => owner.append([step(1)], { epoch: lost.epoch }), 'stale_epoch')
      assertEqual(
        (await other.leases.list()).map((lease) => lease.runId),
        ['next'],
        'who holds a lease',
      )
      await assertRefused(() => owner.leases.acquire(key('r'), 't'), 'busy')
    },
  },
  {
    rule: 'R9',
    title: 'a lease of somebody elsewhere outlives who took it for him, and is lost by silence only',
    async run(world) {
      const [server, other] = [await world.open(), await world.open()]
      const lease = await server.leases.acquire(key('r'), 't', { owner: 'elsewhere-1' })
      assertEqual([lease.owner, lease.epoch], ['elsewhere-1', 1], 'the lease')
      await server.append([step(1)], { epoch: lease.epoch })
      await server.close()
      assertEqual((await other.leases.list())[0]?.state, 'alive', 'state')
      await assertRefused(() => other.leases.acquire(key('r'), 't'), 'busy')
      await other.leases.renew(lease)
      await other.append([step(2)], { epoch: lease.epoch })
      world.turnClock(STALE_MS + 1000)
      assertEqual((await other.leases.list())[0]?.state, 'stale', 'state after a silence')
      assertEqual((await other.leases.acquire(key('r'), 't')).epoch, 2, 'the next epoch')
    },
  },
  {
    rule: 'R9',
    title: 'a lease is coordination: it makes no run and no event, and is renewed by heartbeats',
    async run(world) {
      const ledger = await world.open()
      const lease = await ledger.leases.acquire(key('r'))
      assertEqual([(await ledger.stats()).events, await ledger.getRun('r')], [0, null], 'events and runs')
      world.turnClock(20_000)
      await ledger.leases.renew(lease)
      const [listed] = await ledger.leases.list()
      const beat = Date.parse(listed?.heartbeatAt ?? '') - Date.parse(lease.heartbeatAt)
      assert(beat >= 20_000, `the heartbeat moved by ${beat} ms`)
    },
  },
]
