import { findRun, findSeals } from '../store/find-runs.ts'
import type { Store } from '../store/store.ts'
import type { AppendCall, StoreChange } from '../store/change.ts'
import { assert, assertEqual } from './assert.ts'
import { ended } from './ended-runs.ts'
import { forked, note, started, type StoreTest, type World } from './world.ts'

const workspace = 'default'

/** A call that a ledger has prepared, without writing it. */
async function prepareCall(world: World, store: Store, runId: string): Promise<AppendCall> {
  let prepared: AppendCall | undefined
  const catching: Store = {
    ...store,
    async write({ calls }) {
      prepared = calls[0]
      return { outcomes: [{ events: [] }], tookMs: 0 }
    },
    close: async () => {},
  }
  await (await world.open({}, catching)).append([note(runId, { n: 1 })])
  assert(prepared, 'a prepared call')
  return prepared
}

export const changeTests: readonly StoreTest[] = [
  {
    rule: 'L5',
    title: 'a change is written whole or not at all: a refused call or a run that moved leaves all as it was',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([started('r'), note('r', { text: 'kept' }), ended('r')])
      await ledger.record(forked('f', 'r', 1))
      const store = await world.openStore()
      const key = { workspace, runId: 'r' }
      const call = await prepareCall(world, store, 'other')
      const [, second] = await store.readRun(key, { afterSeq: 0, limit: 2 })
      const run = await findRun(store, key)
      assert(second && run, 'the run')
      const blank = [{ as: 'erased' as const, positions: [second.position] }]
      const replace = [{ ...key, summary: { ...run.summary, steps: 7 }, steps: [], gone: [] }]
      const rest = { blank, replace }
      const moving: readonly Partial<StoreChange>[] = [
        { expect: [{ ...key, seq: 2 }] },
        { expect: [{ ...key, forks: 0 }] },
        { expect: [{ workspace, runId: 'nobody' }] },
        {
          expect: [
            { ...key, seq: 3, forks: 1 },
            { workspace, runId: 'f', seq: 9 },
          ],
        },
        { replace: [...replace, { workspace, runId: 'nobody', steps: [], gone: [] }] },
        { prune: [{ ...key, fromSeq: 1, toSeq: 3, headHash: run.hash, seq: 3, deletes: true }] },
      ]
      for (const part of moving) {
        const written = await store.write({ calls: [call], ...rest, ...part })
        assert('moved' in written && written.moved.length === 1, JSON.stringify(part))
      }
      const refused = await store.write({ calls: [{ ...call, expectedSeq: 5 }], ...rest })
      const [outcome] = 'outcomes' in refused ? refused.outcomes : []
      assertEqual(outcome && 'error' in outcome && outcome.error.code, 'wrong_seq', 'the call is refused')
      assertEqual(await store.readRun(key, { afterSeq: 1, limit: 1 }), [second], 'the payload')
      assertEqual((await findRun(store, key))?.summary, run.summary, 'the row')
      assertEqual(await findSeals(store, key), [], 'pruned ranges')
      assertEqual(await findRun(store, { workspace, runId: 'other' }), null, 'the call')
      const expect = [{ ...key, seq: 3, forks: 1 }]
      assert('outcomes' in (await store.write({ calls: [call], expect, ...rest })), 'as expected')
      const [blanked] = await store.readRun(key, { afterSeq: 1, limit: 1 })
      assertEqual([blanked?.body, blanked?.salt, blanked?.erased], [null, null, true], 'the payload goes')
      assertEqual((await findRun(store, key))?.summary.steps, 7, 'the row is replaced')
      assertEqual((await findRun(store, { workspace, runId: 'other' }))?.seq, 1, 'the call is written')
    },
  },
  {
    rule: 'R4',
    title: 'runs and events are found by each condition of a query, page by page in both orders',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([started('a', { threadId: 't', subjects: ['ann'] }), ended('a')])
      await ledger.append([started('b', { parentRunId: 'a', threadId: 'u' }), ended('b')])
      const [cause] = await ledger.append([forked('c', 'a', 1), ended('c')])
      await ledger.record(note('clew:stream/s'))
      await ledger.in('elsewhere').record(started('a', { subjects: ['ann'] }))
      const store = await world.openStore()
      const found = async (query: Parameters<Store['findRuns']>[0]): Promise<string[]> =>
        (await store.findRuns({ workspace, ...query })).runs.map(({ summary }) => summary.runId)
      assertEqual(await found({ ids: ['c', 'a', 'nobody'] }), ['c', 'a'], 'ids')
      assertEqual(await found({ below: ['a'], order: 'oldest' }), ['b', 'c'], 'below')
      assertEqual(await found({ subjects: ['ann', 'bob'] }), ['c', 'a'], 'subjects')
      assertEqual(await found({ threadIds: ['t', 'u'], order: 'oldest' }), ['a', 'b', 'c'], 'threads')
      assertEqual(await found({ threadIds: ['u'], below: ['a'] }), ['b'], 'all conditions')
      assertEqual(await found({ ids: [] }), [], 'no id')
      assertEqual(await found({ systemRun: 'stream' }), ['clew:stream/s'], 'system runs')
      assertEqual((await found({ workspace: undefined, order: 'oldest' })).length, 5, 'all workspaces')
      for (const order of ['newest', 'oldest'] as const) {
        const pages: string[] = []
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const page = await store.findRuns({ workspace, systemRun: null, order, limit: 2, cursor })
          pages.push(page.runs.map(({ summary }) => summary.runId).join(' '))
          cursor = page.next
        }
        assertEqual(pages, order === 'newest' ? ['c b', 'a'] : ['a b', 'c'], order)
      }
      const [first] = (await store.findRuns({ workspace, ids: ['a'], with: ['bytes', 'pruned'] })).runs
      assert((first?.bytes ?? 0) > 0, 'bytes')
      assertEqual(first?.pruned, [], 'pruned ranges')
      const all = await store.readAll({ workspace, afterPosition: 0, limit: 99 })
      const positions = all.map(({ position }) => position)
      assertEqual(await store.findEvents({ workspace, positions: positions.toReversed() }), all, 'positions')
      assertEqual(await store.findEvents({ workspace: 'elsewhere', positions }), [], 'of another workspace')
      const ids = [cause?.eventId ?? '', all[0]?.eventId ?? '']
      const byId = await store.findEvents({ workspace, ids })
      assertEqual(
        byId.map(({ eventId }) => eventId),
        ids.toReversed(),
        'ids of events',
      )
      const containing = await store.readAll({ workspace, afterPosition: 0, limit: 99, containing: ['ann'] })
      assertEqual(
        containing.map(({ correlationId }) => correlationId),
        ['a'],
        'texts',
      )
    },
  },
]
