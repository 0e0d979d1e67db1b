import { putCursor } from '../store/cursors.ts'
import { AUDIT_RUN_ID } from '../append/audit-run.ts'
import type { EventInput } from '../event/envelope.ts'
import type { Ledger } from '../ledger.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { addRun, assertSound, DAY_MS, ended, later, list, MONTH } from './ended-runs.ts'
import { forked, note, readAll, seqs, started, type StoreTest, upTo } from './world.ts'

/** Reasons that `gc` reports for runs that stay. */
async function reasons(ledger: Ledger, policy = MONTH): Promise<Record<string, string>> {
  const { kept } = await ledger.gc({ policy, dryRun: true })
  return Object.fromEntries(kept.map(({ runId, reason }) => [runId, reason]))
}

/** A run from whose state the next turn of its thread goes on. */
const turn = (runId: string, from?: { runId: string; seq: number }): EventInput[] => [
  started(runId, { threadId: 't' }),
  {
    eventType: 'execution.checkpoint',
    correlationId: runId,
    payload: {
      superstep: 0,
      next: [],
      ...(from ? { from, operations: [] } : { state: { n: 1 }, versions: {} }),
    },
  },
  ended(runId),
]

export const retentionKeepsTests: readonly StoreTest[] = [
  {
    rule: 'P4',
    title: 'runs that are not over, are leased or paused stay, and so do their children',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([started('running'), note('running')])
      await ledger.append([
        started('paused'),
        { eventType: 'ui.input_requested', correlationId: 'paused', payload: { pauseId: 'p' } },
        { eventType: 'system.workflow_paused', correlationId: 'paused', payload: {} },
      ])
      await ledger.append([note('recorded only')])
      await addRun(ledger, 'child', { parentRunId: 'running' })
      await addRun(ledger, 'leased')
      await addRun(ledger, 'parent')
      await addRun(ledger, 'child of it', { parentRunId: 'parent' })
      await addRun(ledger, 'grandchild', { parentRunId: 'child of it' })
      await later(world, ledger)
      const lease = await ledger.leases.acquire({ workspace: 'default', runId: 'leased' })
      assertEqual(await reasons(ledger), { leased: 'somebody works on it' }, 'reasons')
      const counted = await ledger.gc({ policy: { rules: [{ newest: 0 }] }, dryRun: true })
      const isNamed = counted.ranges.some(({ runId }) => runId === 'recorded only')
      assertEqual(isNamed, false, 'what was only recorded goes by its age alone')
      await ledger.gc({ policy: MONTH })
      const alive = ['child', 'leased', 'paused', 'running', 'young']
      assertEqual(await list(ledger), alive, 'what stays; children go with their parent')
      await ledger.leases.release(lease)
      await ledger.gc({ policy: MONTH })
      assertEqual(
        await list(ledger),
        alive.filter((runId) => runId !== 'leased'),
        'after the lease',
      )
      await assertSound(ledger)
    },
  },
  {
    rule: 'R7',
    title: 'what a fork shares stays, the rest of its source goes; later that goes too',
    async run(world) {
      const ledger = await world.open()
      await addRun(ledger, 'source', {}, 6)
      await addRun(ledger, 'only')
      world.turnClock(40 * DAY_MS)
      await ledger.append([forked('fork', 'source', 4), note('fork'), ended('fork')])
      const before = await readAll(ledger, 'fork')
      const { ranges } = await ledger.gc({ policy: MONTH })
      assertEqual(
        ranges.map(({ runId, fromSeq, toSeq }) => `${runId} ${fromSeq} ${toSeq}`).toSorted(),
        ['only 1 5', 'source 5 8'],
        'ranges',
      )
      assertEqual(await readAll(await world.open(), 'fork'), before, 'the fork reads as before')
      await assertRefused(() => readAll(ledger, 'source'), 'pruned', { fromSeq: 5, toSeq: 8 })
      await ledger.append([forked('second', 'fork', 3), ended('second')])
      assertEqual(seqs(await readAll(ledger, 'second')), upTo(5), 'a fork of the fork')
      await assertSound(ledger)
      world.turnClock(40 * DAY_MS)
      await ledger.gc({ policy: MONTH })
      await ledger.gc({ policy: MONTH })
      assertEqual(await list(ledger), [], 'all of it')
      assertEqual((await ledger.stats()).events, seqs(await readAll(ledger, AUDIT_RUN_ID)).length, 'events')
      await assertSound(ledger)
    },
  },
  {
    rule: 'R5',
    title: 'a thread goes as a whole, or keeps its newest run with the turns whose state it goes on from',
    async run(world) {
      const ledger = await world.open()
      await ledger.append(turn('turn 1'))
      await ledger.append(turn('turn 2', { runId: 'turn 1', seq: 2 }))
      await ledger.append([...turn('edited')])
      await ledger.append(turn('turn 3', { runId: 'turn 2', seq: 2 }))
      world.turnClock(40 * DAY_MS)
      await ledger.append(turn('turn 4', { runId: 'turn 3', seq: 2 }))
      const state = await ledger.getState('turn 4')
      await ledger.gc({ policy: MONTH })
      assertEqual(await list(ledger), ['turn 4'], 'runs')
      assertEqual(
        await (await world.open()).getState('turn 4'),
        state,
        'its state is still folded from those before',
      )
      await ledger.append(turn('turn 5', { runId: 'turn 4', seq: 2 }))
      await assertSound(ledger)
      world.turnClock(40 * DAY_MS)
      await ledger.gc({ policy: MONTH })
      assertEqual(await list(ledger), [], 'the thread as a whole')
      assertEqual((await ledger.stats()).events, seqs(await readAll(ledger, AUDIT_RUN_ID)).length, 'events')
    },
  },
  {
    rule: 'P4',
    title: 'a legal hold on a run, a subject or a thread wins, until it is released',
    async run(world) {
      const ledger = await world.open()
      await addRun(ledger, 'a')
      await addRun(ledger, 'b', { subjects: ['ann'] })
      await addRun(ledger, 'c', { threadId: 't' })
      await addRun(ledger, 'd', { threadId: 't' })
      await addRun(ledger, 'e')
      await later(world, ledger)
      await assertRefused(() => ledger.hold({ runId: 'nobody' }), 'not_found', { runId: 'nobody' })
      await assertRefused(() => ledger.hold({ runId: 'a', subject: 'b' }), 'bad_option')
      const hold = await ledger.hold({ runId: 'a' }, { reason: 'court', by: 'ann' })
      const holds = [hold, await ledger.hold({ subject: 'ann' }), await ledger.hold({ threadId: 't' })]
      assertEqual(await (await world.open()).holds(), holds, 'holds')
      assertEqual(Object.keys(await reasons(ledger)).toSorted(), ['a', 'b', 'c', 'd'], 'kept')
      assert((await reasons(ledger))['a']?.includes('court'), 'the reason')
      await ledger.gc({ policy: MONTH })
      assertEqual(await list(ledger), ['a', 'b', 'c', 'd', 'young'], 'held')
      for (const { holdId } of holds) await ledger.release(holdId, { by: 'bob' })
      await assertRefused(() => ledger.release(hold.holdId), 'not_found', { holdId: hold.holdId })
      await ledger.gc({ policy: MONTH })
      assertEqual(await list(ledger), ['young'], 'released')
      await assertSound(ledger)
    },
  },
  {
    rule: 'V9',
    title: 'what a consumer has not seen stays',
    async run(world) {
      const ledger = await world.open()
      await addRun(ledger, 'seen')
      const seen = (await readAll(ledger, 'seen')).at(-1)?.ledger.position ?? 0
      await addRun(ledger, 'unseen')
      await later(world, ledger)
      const store = await world.openStore()
      const cursor = {
        name: 'mirror',
        position: seen,
        failures: 0,
        error: null,
        movedAt: '2026-01-01T00:00:00.000Z',
      }
      await putCursor(store.slots, 'default', cursor, 0)
      assertEqual(await reasons(ledger), { unseen: 'consumer mirror has not seen all of it' }, 'reasons')
      await ledger.gc({ policy: MONTH })
      assertEqual(await list(ledger), ['unseen', 'young'], 'runs')
    },
  },
]
