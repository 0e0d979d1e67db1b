import { findRun } from '../store/find-runs.ts'
import type { Store, StoredRun } from '../store/store.ts'
import { markProjections, PROJECTION_VERSION } from '../projections/projection-version.ts'
import { assert, assertEqual } from './assert.ts'
import { runWorkload } from './workload.ts'
import { note, started, type StoreTest, upTo } from './world.ts'

/** Rows as an older fold might have left them: wrong counts, a step too many, one that is missing. */
async function spoil(store: Store, runId: string): Promise<void> {
  const key = { workspace: 'default', runId }
  const run = (await findRun(store, key)) as StoredRun
  const [first] = await store.readSteps(key)
  const gone = first ? [first] : []
  const steps = first ? [{ ...first, stepId: 'never#0' }] : []
  const summary = { ...run.summary, steps: 999, status: 'partial' as const, agent: 'nobody' }
  const written = await store.write({ calls: [], replace: [{ ...key, summary, steps, gone }] })
  assert('outcomes' in written, 'rows can be replaced')
}

export const rebuildTests: readonly StoreTest[] = [
  {
    rule: 'L1',
    title: 'rows of an older fold are rebuilt from the events',
    async run(world) {
      const [ledger, other] = [await world.open(), await world.open()]
      const runs = await runWorkload(ledger, 7, 40)
      const before = await Promise.all(runs.map((runId) => ledger.getRun(runId)))
      const store = await world.openStore()
      for (const runId of runs) await spoil(store, runId)
      await markProjections(store.slots, { version: 0, rebuilding: null })
      assertEqual((await ledger.verify(undefined, { projections: true })).ok, false, 'verify finds them')
      assertEqual((await ledger.projectionState()).version, 0, 'the older version')
      const told: number[] = []
      const report = await ledger.rebuild({ onProgress: (count) => void told.push(count) })
      assertEqual(
        report,
        { version: PROJECTION_VERSION, runs: runs.length, changed: runs.length, kept: 0 },
        'report',
      )
      assertEqual(told, upTo(runs.length), 'progress')
      const { ok, problems } = await other.verify(undefined, { projections: true })
      assert(ok, JSON.stringify(problems.slice(0, 3)))
      assertEqual(await Promise.all(runs.map((runId) => other.getRun(runId))), before, 'the rows')
      const current = { version: PROJECTION_VERSION, current: PROJECTION_VERSION, isRebuilding: false }
      assertEqual(await other.projectionState(), current, 'the version')
      assertEqual((await other.listRuns({ agent: 'nobody' })).runs, [], 'listings follow')
      assertEqual((await ledger.rebuild()).changed, 0, 'a second time')
      await ledger.append([started('later'), note(runs[0] as string)])
      assertEqual((await ledger.verify(undefined, { projections: true })).ok, true, 'what is appended later')
    },
  },
  {
    rule: 'L1',
    title: 'a rebuild that was cut short goes on where it was',
    async run(world) {
      const ledger = await world.open()
      for (const n of upTo(30)) await ledger.append([started(`run-${n}`), note(`run-${n}`)])
      const store = await world.openStore()
      for (const n of upTo(30)) await spoil(store, `run-${n}`)
      const { next } = await store.findRuns({ order: 'oldest', limit: 10 })
      const rebuilding = { version: PROJECTION_VERSION, cursor: next }
      await markProjections(store.slots, { version: 0, rebuilding })
      const report = await ledger.rebuild()
      assertEqual([report.runs, report.changed], [20, 20], 'the rest')
      assertEqual((await ledger.getRun('run-10'))?.steps, 999, 'what was passed over')
      assertEqual((await ledger.getRun('run-11'))?.steps, 0, 'what was rebuilt')
      assertEqual((await ledger.rebuild()).changed, 10, 'the next one begins at the first run')
    },
  },
  {
    rule: 'L1',
    title: 'writers go on while rows are rebuilt, and rows of a run that moved are not replaced',
    async run(world) {
      const [ledger, writer] = [await world.open(), await world.open()]
      const step = (n: number, eventType: string) => ({
        eventType,
        correlationId: 'busy',
        payload: { stepId: `s#${n}`, name: 's' },
      })
      for (const n of upTo(300)) await ledger.append([step(n, 'execution.step_started')])
      const store = await world.openStore()
      const key = { workspace: 'default', runId: 'busy' }
      const late = { expect: [{ ...key, seq: 299 }], replace: [{ ...key, steps: [], gone: [] }] }
      const moved = await store.write({ calls: [], ...late })
      assertEqual('moved' in moved && moved.moved, ['busy'], 'another seq')
      await spoil(store, 'busy')
      const writing = (async () => {
        for (const n of upTo(300)) await writer.append([step(n, 'execution.step_completed')])
      })()
      await Promise.all([ledger.rebuild(), writing])
      await ledger.rebuild()
      const { ok, problems } = await ledger.verify('busy', { projections: true })
      assert(ok, JSON.stringify(problems))
    },
  },
]
