import { AUDIT_BOOK } from '../audit-book.ts'
import type { EventInput } from '../envelope.ts'
import type { Ledger } from '../ledger.ts'
import type { GrowthRate } from '../retention/growth.ts'
import type { RetentionPolicyInput } from '../retention/policy.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import {
  forked,
  note,
  readAll,
  seqs,
  started,
  type StoreTest,
  suiteSigner,
  upTo,
  type World,
} from './world.ts'

const DAY_MS = 86_400_000

const ended = (runId: string): EventInput => ({
  eventType: 'system.workflow_completed',
  correlationId: runId,
  payload: {},
})

/** All runs that ended a month ago or more. */
const MONTH: RetentionPolicyInput = { rules: [{ name: 'month', olderThan: '30d' }] }

async function addRun(
  ledger: Ledger,
  runId: string,
  payload: Record<string, unknown> = {},
  notes = 3,
): Promise<void> {
  await ledger.append([started(runId, payload), ...upTo(notes).map((n) => note(runId, { n })), ended(runId)])
}

const list = async (ledger: Ledger): Promise<string[]> =>
  (await ledger.listRuns({ limit: 500 })).runs.map(({ runId }) => runId).toSorted()

async function assertSound(ledger: Ledger): Promise<void> {
  const { problems } = await ledger.verify(undefined, { projections: true })
  assertEqual(problems, [], 'problems')
}

/** What `gc` says of what stays. */
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

/** One event of the audit book came. */
const paceOf = (rate: GrowthRate | null) => ({
  eventsPerDay: rate?.eventsPerDay,
  bytesPerDay: rate?.bytesPerDay,
})

async function later(world: World, ledger: Ledger, days = 40): Promise<void> {
  world.turnClock(days * DAY_MS)
  await addRun(ledger, 'young')
}

export const retentionTests: readonly StoreTest[] = [
  {
    rule: 'P4',
    title:
      'what a rule names goes, is told before and in the audit book, and leaves a seal; nothing else goes',
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
      assertEqual((await ledger.stats()).events, seqs(await readAll(ledger, AUDIT_BOOK)).length, 'events')
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
      assertEqual((await ledger.stats()).events, seqs(await readAll(ledger, AUDIT_BOOK)).length, 'events')
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
        workspace: 'default',
        name: 'mirror',
        position: seen,
        failures: 0,
        error: null,
        movedAt: '2026-01-01T00:00:00.000Z',
      }
      await store.cursors.put(cursor, 0)
      assertEqual(await reasons(ledger), { unseen: 'consumer mirror has not seen all of it' }, 'reasons')
      await ledger.gc({ policy: MONTH })
      assertEqual(await list(ledger), ['unseen', 'young'], 'runs')
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
    title: 'events of a type go out of runs that stay, books lose their beginnings, and both go on',
    async run(world) {
      const ledger = await world.open()
      const thought = (n: number): EventInput => ({
        eventType: 'execution.reasoning',
        correlationId: 'r',
        payload: { content: `thought ${n}` },
      })
      await ledger.append([started('r'), thought(1), thought(2), note('r'), thought(3), ended('r')])
      const book = (n: number) => ({
        eventType: 'ui.message_created',
        correlationId: 'clew:stream/s',
        payload: { content: `m${n}` },
      })
      await ledger.append(upTo(4).map(book))
      await later(world, ledger)
      await ledger.record(book(5))
      const before = await ledger.getRun('r')
      const policy: RetentionPolicyInput = {
        rules: [
          { name: 'thoughts', match: { types: ['execution.reasoning'] }, olderThan: '7d' },
          { name: 'messages', match: { book: 'stream' }, olderThan: '7d' },
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
      assertEqual((await ledger.record(book(6))).ledger.seq, 6, 'the book goes on')
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
      // Whoever remembers values that are gone writes them anew.
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
    rule: 'L6',
    title: 'a seal that the audit book does not name is forged, and signed heads are kept',
    async run(world) {
      const ledger = await world.open()
      await addRun(ledger, 'old')
      await addRun(ledger, 'cut')
      const signed = await ledger.signHeads(suiteSigner)
      await later(world, ledger)
      await ledger.gc({ policy: { rules: [{ match: {}, olderThan: '30d' }], keep: [] } })
      assert((await ledger.verify(undefined, { heads: signed })).ok, 'heads that were signed before')
      const store = await world.openStore()
      const place = await world.elsewhere()
      const copy = await place.open()
      await copy.append([started('r'), note('r')])
      const fake = { fromSeq: 3, toSeq: 4, headHash: 'ab'.repeat(32) }
      const summary = (await copy.getRun('r')) as NonNullable<Awaited<ReturnType<Ledger['getRun']>>>
      const foreign = await place.openStore()
      assert(
        await foreign.retention.adopt({ workspace: 'default', runId: 'r' }, fake, {
          summary,
          forkOf: null,
          recordedAt: summary.updatedAt,
        }),
        'adopted',
      )
      const { problems } = await (await place.open()).verify('r')
      assertEqual(
        problems.map(({ problem, seq }) => `${problem} ${seq}`),
        ['forged_seal 3', 'truncated 3'],
        'found',
      )
      assertEqual((await store.retention.seals({ workspace: 'default', runId: 'cut' })).length, 1, 'seals')
    },
  },
  {
    rule: 'L11',
    title: 'an export carries seals, and what is imported verifies and goes on',
    async run(world) {
      const ledger = await world.open()
      await addRun(ledger, 'old')
      await addRun(ledger, 'source', {}, 4)
      await ledger.append(upTo(4).map((n) => ({ ...note('clew:stream/s', { n }) })))
      const whole = await Array.fromAsync(ledger.export())
      await later(world, ledger)
      await ledger.append(
        [forked('fork', 'source', 3), ended('fork'), note('clew:stream/s', { n: 5 })].slice(0, 2),
      )
      await ledger.record(note('clew:stream/s', { n: 5 }))
      await ledger.gc({
        policy: { rules: [...MONTH.rules, { name: 'book', match: { book: 'stream' }, olderThan: '30d' }] },
      })
      const lines = await Array.fromAsync(ledger.export())
      const there = await (await world.elsewhere()).open()
      await there.import(lines)
      const { ok, pruned, problems } = await there.verify()
      assertEqual(problems, [], 'problems')
      assert(ok, 'it verifies')
      assertEqual(pruned.map(({ runId }) => runId).toSorted(), ['clew:stream/s', 'old', 'source'], 'seals')
      assertEqual(await list(there), await list(ledger), 'runs')
      assertEqual(
        (await readAll(there, 'fork')).map(({ ledger: { hash } }) => hash),
        (await readAll(ledger, 'fork')).map(({ ledger: { hash } }) => hash),
        'hashes',
      )
      await there.record(note('clew:stream/s', { n: 6 }))
      await there.import(lines)
      assertEqual((await there.import(whole)).passed > 0, true, 'what was pruned here does not come back')
      assertEqual(await list(there), await list(ledger), 'runs')
      const part = await (await world.elsewhere()).open()
      await part.import(await Array.fromAsync(ledger.export({ runId: 'fork' })))
      assertEqual((await part.verify()).problems, [], 'one run with its source')
      const clean = await (await world.elsewhere()).open()
      await clean.import(await Array.fromAsync(ledger.export({ redacted: true })))
      assertEqual((await clean.verify()).problems, [], 'redacted')
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
        const run = await store.findRun({ workspace: 'default', runId })
        assert(run, runId)
        return {
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
        const outcome = await store.retention.prune({
          workspace: 'default',
          items: batch,
          call: { workspace: 'default', events: [] },
        })
        assertEqual(outcome, { moved: [runId] }, runId)
      }
      for (const runId of ['leased', 'forked', 'clew:stream/s']) await refused(runId)
      await refused('young', { headHash: 'ab'.repeat(32) })
      await refused('young', { toSeq: 9 })
      assertEqual(await store.retention.seals({ workspace: 'default', runId: 'free' }), [], 'nothing half')
      await assertSound(ledger)
    },
  },
  {
    rule: 'R10',
    title: 'the report tells size, growth, what goes and the last gc, on its day and in its workspace',
    async run(world) {
      const ledger = await world.open({ retention: MONTH })
      await addRun(await world.open({ workspace: 'other' }), 'theirs', {}, 50)
      await addRun(ledger, 'old')
      await ledger.record(note('clew:stream/s'))
      const store = await world.openStore()
      const sizes = await store.retention.storage()
      assert(sizes.length > 0 && sizes.every(({ name, bytes }) => name !== '' && bytes > 0), 'parts')
      const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
      assert(total >= (await store.stats()).bytes, 'all of the store')
      world.turnClock(28 * DAY_MS)
      await ledger.append([note('clew:stream/s'), note('clew:stream/s')])
      await later(world, ledger, 7)
      const { growth, goes, events, runs, books, size, proposal } = await ledger.retentionReport()
      assertEqual([events, runs, books, size.isShared], [13, 2, 1, true], 'counts')
      const days = growth.days.map((day) => day.events)
      assertEqual([days.length, days.at(-1), days.at(-8)], [30, 5, 2], 'growth')
      assertEqual([growth.week?.eventsPerDay, growth.isExact], [0.7, true], 'pace')
      assertEqual(goes?.rules, [{ rule: 'month', runs: 1, events: 5 }], 'goes')
      assert(!JSON.stringify(proposal).includes('theirs'), 'nothing of others')
      assertEqual((await ledger.retentionReport()).events, 13, 'nothing goes by looking')
      await ledger.gc({ by: 'ann' })
      const after = await ledger.retentionReport()
      assertEqual([after.goes?.events, after.lastGc?.by, after.lastGc?.events], [0, 'ann', 5], 'last gc')
      assertEqual(
        after.growth.week,
        { ...growth.week, ...paceOf(after.growth.week) },
        'what went was recorded',
      )
    },
  },
]
