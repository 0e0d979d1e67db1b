import { findSeals } from '../store/find-runs.ts'
import type { Ledger } from '../ledger.ts'
import type { GrowthRate } from '../retention/growth.ts'
import { assert, assertEqual } from './assert.ts'
import { addRun, DAY_MS, ended, later, list, MONTH } from './ended-runs.ts'
import { forked, note, readAll, started, type StoreTest, suiteSigner, upTo } from './world.ts'

/** One event of the audit run came. */
const paceOf = (rate: GrowthRate | null) => ({
  eventsPerDay: rate?.eventsPerDay,
  bytesPerDay: rate?.bytesPerDay,
})

export const retentionToldTests: readonly StoreTest[] = [
  {
    rule: 'L6',
    title: 'a seal that the audit run does not name is forged, and signed heads are kept',
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
      const run = { summary, forkOf: null, recordedAt: summary.updatedAt }
      const adopt = [{ workspace: 'default', runId: 'r', ...fake, run }]
      assert('outcomes' in (await foreign.write({ calls: [], adopt })), 'adopted')
      assert('moved' in (await foreign.write({ calls: [], adopt })), 'not twice')
      const { problems } = await (await place.open()).verify('r')
      assertEqual(
        problems.map(({ problem, seq }) => `${problem} ${seq}`),
        ['forged_seal 3', 'truncated 3'],
        'found',
      )
      assertEqual((await findSeals(store, { workspace: 'default', runId: 'cut' })).length, 1, 'seals')
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
        policy: {
          rules: [...MONTH.rules, { name: 'stream', match: { systemRun: 'stream' }, olderThan: '30d' }],
        },
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
    rule: 'R10',
    title: 'the report tells size, growth, what goes and the last gc, on its day and in its workspace',
    async run(world) {
      const ledger = await world.open({ retention: MONTH })
      await addRun(await world.open({ workspace: 'other' }), 'theirs', {}, 50)
      await addRun(ledger, 'old')
      await ledger.record(note('clew:stream/s'))
      const store = await world.openStore()
      const { storage: sizes, stats } = await store.info('storage', 'stats')
      assert(sizes.length > 0 && sizes.every(({ name, bytes }) => name !== '' && bytes > 0), 'parts')
      const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
      assert(total >= stats.bytes, 'all of the store')
      world.turnClock(28 * DAY_MS)
      await ledger.append([note('clew:stream/s'), note('clew:stream/s')])
      // Not a whole number of days: on their border it counts whether a millisecond has passed.
      await later(world, ledger, 7.5)
      const { growth, goes, events, runs, systemRuns, size, proposal } = await ledger.retentionReport()
      assertEqual([events, runs, systemRuns, size.isShared], [13, 2, 1, true], 'counts')
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
