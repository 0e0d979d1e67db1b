import type { RecordInput } from '../catalogue/catalogue.ts'
import { findRun, findSeals } from '../store/find-runs.ts'
import type { RetentionPolicyInput } from '../retention/policy.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { addRun, assertSound, DAY_MS, ended, later, list, MONTH } from './ended-runs.ts'
import { forked, note, readAll, seqs, started, type StoreTest, upTo } from './world.ts'

export const retentionTests: readonly StoreTest[] = [
  {
    rule: 'P4',
    title:
      'what a rule names goes, is told before and in the audit run, and leaves a seal; nothing else goes',
    async run(world) {
      const ledger = await world.open()
      for (const n of upTo(4)) await addRun(ledger, `old ${n}`)
      await later(world, ledger)
      const planned = await ledger.gc({ policy: MONTH, dryRun: true })
      assertEqual([planned.dryRun, planned.events, planned.runs], [true, 20, 4], 'the plan')
      assertEqual(planned.rules, [{ rule: 'month', runs: 4, events: 20 }], 'by rule')
      assertEqual((await ledger.stats()).events, 25, 'nothing has gone yet')
      const told: number[] = []
      const done = await ledger.gc({
        policy: MONTH,
        by: 'ann',
        onProgress: (n, of) => void told.push(n / of),
      })
      assertEqual([done.events, done.runs, done.kept], [20, 4, []], 'what went')
      assertEqual(told.at(-1), 1, 'progress')
      assertEqual(await list(ledger), ['young'], 'runs')
      const gone = (await ledger.listRuns({ status: 'deleted' })).runs
      assertEqual(gone.length, 4, 'rows stay')
      const { ok, pruned } = await (await world.open()).verify(undefined, { projections: true })
      assert(ok, 'the chain holds')
      assertEqual(
        pruned
          .map(({ runId, fromSeq, toSeq, rule, by }) => `${runId} ${fromSeq} ${toSeq} ${rule} ${by}`)
          .toSorted(),
        upTo(4).map((n) => `old ${n} 1 5 month ann`),
        'pruned, not missing',
      )
      const { entries } = await ledger.compliance({})
      assertEqual(
        [...new Set(entries.map(({ who, action }) => `${who} ${action}`))],
        ['ann pruned'],
        'the log',
      )
      assertEqual((await ledger.gc({ policy: MONTH })).events, 0, 'nothing is left to do')
    },
  },
  {
    rule: 'P4',
    title: 'a deleted run says so to readers, forks and writers, and its id cannot be taken again',
    async run(world) {
      const ledger = await world.open()
      await addRun(ledger, 'old')
      const other = await world.open()
      await readAll(other, 'old')
      await later(world, ledger)
      await ledger.gc({ policy: MONTH })
      for (const each of [ledger, other]) {
        const range = { runId: 'old', fromSeq: 1, toSeq: 5 }
        await assertRefused(() => readAll(each, 'old'), 'pruned', range)
        await assertRefused(() => each.getState('old'), 'pruned', range)
        await assertRefused(() => each.transcript('old'), 'pruned', range)
        await assertRefused(() => Array.fromAsync(each.export({ runId: 'old' })), 'pruned', range)
        await assertRefused(() => each.record(forked('f', 'old', 2)), 'pruned', { runId: 'old' })
        await assertRefused(() => each.record(started('old')), 'pruned', { runId: 'old' })
        assertEqual((await each.getRun('old'))?.status, 'deleted', 'status')
        assertEqual(await each.getSkeleton('old'), [], 'steps')
      }
      await assertSound(ledger)
    },
  },
  {
    rule: 'P4',
    title: 'by count, bytes, status, agent and workspace; rules to keep win',
    async run(world) {
      const ledger = await world.open()
      for (const n of upTo(5)) await addRun(ledger, `a${n}`, { agent: 'a' })
      await ledger.append([
        started('failed', { agent: 'b' }),
        { eventType: 'system.workflow_failed', correlationId: 'failed', payload: {} },
      ])
      await addRun(ledger, 'large', { agent: 'c', text: 'x'.repeat(5000) })
      await addRun(ledger, 'small', { agent: 'c' })
      const gone = async (rule: RetentionPolicyInput['rules'][number], keep?: RetentionPolicyInput['keep']) =>
        (await ledger.gc({ policy: { rules: [rule], keep }, dryRun: true })).ranges
          .map(({ runId }) => runId)
          .toSorted()
      assertEqual(await gone({ match: { agent: 'a' }, newest: 2 }), ['a1', 'a2', 'a3'], 'by count')
      assertEqual(await gone({ match: { agent: 'c' }, maxBytes: '1KB' }), ['large'], 'by bytes')
      assertEqual(await gone({ match: { status: ['failed'] }, newest: 0 }), ['failed'], 'by status')
      assertEqual(await gone({ match: { workspace: 'other' }, newest: 0 }), [], 'of another workspace')
      assertEqual(
        await gone({ newest: 0 }, [{ match: { agent: 'a' } }, { match: { agent: 'c' }, youngerThan: '1d' }]),
        ['failed'],
        'kept',
      )
      world.turnClock(2 * DAY_MS)
      assertEqual(
        await gone({ newest: 0 }, [{ match: { agent: 'a' } }, { match: { agent: 'c' }, youngerThan: '1d' }]),
        ['failed', 'large', 'small'],
        'no longer kept',
      )
    },
  },
  {
    rule: 'P4',
    title: 'events of a type go out of runs that stay, system runs lose their beginnings, and both go on',
    async run(world) {
      const ledger = await world.open()
      const thought = (n: number): RecordInput<'execution.reasoning'> => ({
        eventType: 'execution.reasoning',
        correlationId: 'r',
        payload: { content: `thought ${n}` },
      })
      await ledger.append([started('r'), thought(1), thought(2), note('r'), thought(3), ended('r')])
      const systemRun = (n: number) => ({
        eventType: 'ui.message_created' as const,
        correlationId: 'clew:stream/s',
        payload: { content: `m${n}` },
      })
      await ledger.append(upTo(4).map(systemRun))
      await later(world, ledger)
      await ledger.record(systemRun(5))
      const before = await ledger.getRun('r')
      const policy: RetentionPolicyInput = {
        rules: [
          { name: 'thoughts', match: { types: ['execution.reasoning'] }, olderThan: '7d' },
          { name: 'messages', match: { systemRun: 'stream' }, olderThan: '7d' },
        ],
      }
      const { ranges } = await ledger.gc({ policy })
      assertEqual(
        ranges
          .map(({ runId, fromSeq, toSeq, deletes }) => `${runId} ${fromSeq} ${toSeq} ${deletes}`)
          .toSorted(),
        ['clew:stream/s 2 4 false', 'r 2 3 false', 'r 5 5 false'],
        'ranges',
      )
      assertEqual(seqs(await readAll(ledger, 'r')), [1, 4, 6], 'what is left')
      assertEqual(await ledger.getRun('r'), before, 'the summary stays')
      await assertRefused(() => ledger.record(forked('f', 'r', 3)), 'pruned', { runId: 'r', seq: 3 })
      assertEqual((await ledger.record(forked('f', 'r', 4))).ledger.seq, 5, 'a fork elsewhere')
      assertEqual((await ledger.record(systemRun(6))).ledger.seq, 6, 'the system run goes on')
      await assertSound(await world.open())
      assertEqual((await ledger.rebuild()).changed, 0, 'a rebuild takes nothing for changed')
      await assertSound(ledger)
    },
  },
  {
    rule: 'L8',
    title: 'shared values go when no event that stays refers to them, and only then',
    async run(world) {
      const ledger = await world.open()
      const list = (from: number, count: number) =>
        upTo(count).map((n) => ({ n: from + n, text: `${from + n} `.repeat(60) }))
      const shared = list(0, 40)
      await ledger.append([started('old', { threadId: 't', shared, own: list(1000, 40) }), ended('old')])
      await ledger.append([started('alone', { own: list(2000, 40) }), ended('alone')])
      const before = await ledger.stats()
      const other = await world.open()
      await other.record(note('elsewhere', { shared }))
      world.turnClock(40 * DAY_MS)
      await ledger.append([started('new', { threadId: 't2', shared }), ended('new')])
      await ledger.append([
        started('mate', { threadId: 't', shared }),
        note('mate', { more: [...shared, ...list(500, 4)] }),
        ended('mate'),
      ])
      const read = await readAll(ledger, 'mate')
      const { values } = await ledger.gc({ policy: MONTH })
      assert(values > 20, `${values} values went`)
      assert((await ledger.stats()).values < before.values + 120, 'fewer values')
      for (const each of [ledger, other, await world.open()])
        assertEqual(await readAll(each, 'mate'), read, 'what stays')
      // A writer whose cache still has deleted values stores them again.
      const again = await other.record(note('mate 2', { shared, own: list(1000, 40) }))
      assertEqual(
        (await (await world.open()).getEvent(again.eventId))?.payload['own'],
        list(1000, 40),
        'written again',
      )
      await other.append([started('mate 3', { threadId: 't', own: list(1000, 40) })])
      await assertSound(await world.open())
    },
  },
  {
    rule: 'L2',
    title:
      'batches that meet others: a run that moved on, a lease, a fork or a hold in between leave nothing half',
    async run(world) {
      const ledger = await world.open()
      for (const runId of ['book', 'leased', 'forked', 'free']) await addRun(ledger, runId)
      await ledger.record(note('clew:stream/s'))
      const store = await world.openStore()
      await later(world, ledger)
      const itemOf = async (runId: string) => {
        const run = await findRun(store, { workspace: 'default', runId })
        assert(run, runId)
        return {
          workspace: 'default',
          runId,
          fromSeq: 1,
          toSeq: run.seq,
          headHash: run.hash,
          seq: run.seq,
          deletes: runId !== 'clew:stream/s',
        }
      }
      const items = new Map<string, Awaited<ReturnType<typeof itemOf>>>()
      for (const runId of ['leased', 'forked', 'free', 'clew:stream/s', 'young'])
        items.set(runId, await itemOf(runId))
      await ledger.record(note('clew:stream/s'))
      await ledger.record(forked('f', 'forked', 2))
      await ledger.leases.acquire({ workspace: 'default', runId: 'leased' })
      const refused = async (runId: string, change: object = {}) => {
        const batch = [items.get('free'), { ...items.get(runId), ...change }] as never
        const written = await store.write({ calls: [], prune: batch })
        assertEqual('moved' in written && written.moved, [runId], runId)
      }
      for (const runId of ['leased', 'forked', 'clew:stream/s']) await refused(runId)
      await refused('young', { headHash: 'ab'.repeat(32) })
      await refused('young', { toSeq: 9 })
      assertEqual(await findSeals(store, { workspace: 'default', runId: 'free' }), [], 'nothing half')
      await assertSound(ledger)
    },
  },
]
