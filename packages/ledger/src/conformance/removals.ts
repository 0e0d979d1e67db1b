import { AUDIT_RUN_ID } from '../append/audit-run.ts'
import type { ClewEvent, EventInput } from '../event/envelope.ts'
import type { Ledger } from '../ledger.ts'
import type { Blank, StoreChange } from '../store/change.ts'
import type { Store } from '../store/store.ts'
import { assert, assertEqual } from './assert.ts'
import { assertSound, ended } from './ended-runs.ts'
import { forked, note, readAll, started, type StoreTest, upTo } from './world.ts'

const isErased = ({ ledger }: ClewEvent): boolean => ledger.erased === true

async function problemsOf(ledger: Ledger, runId?: string): Promise<string[]> {
  const { problems } = await ledger.verify(runId)
  return problems.map((each) => `${each.problem} ${each.runId} ${each.seq}`)
}

/** A store that writes something else than it is asked. */
const writing = (store: Store, edit: (change: StoreChange) => StoreChange): Store => ({
  ...store,
  write: (change) => store.write(edit(change)),
})

/** A store that takes other payloads away than it is asked. */
const blanking = (store: Store, edit: (positions: readonly number[]) => readonly number[]): Store =>
  writing(store, (change) => ({
    ...change,
    blank: change.blank?.map((each: Blank) => ({ ...each, positions: edit(each.positions) })),
  }))

const checkpoint = (runId: string, n: number): EventInput => ({
  eventType: 'execution.step_completed',
  correlationId: runId,
  payload: {
    stepId: `say@s${n}`,
    output: { word: `word${n}` },
    checkpoint: { superstep: n, next: ['say'], operations: [], baseSeq: n + 2, state: { n }, versions: {} },
  },
})

/**
 * Every deleted payload or range is covered by an audit event and every such event by a deletion (L6), and erasures
 * find their subject by events (P5).
 */
export const removalTests: readonly StoreTest[] = [
  {
    rule: 'L6',
    title: 'every event without payload or state has a mark, in the order of positions',
    async run(world) {
      const store = await world.openStore()
      const ledger = await world.open({}, store)
      await ledger.append([started('r', { subjects: ['ann'] }), note('r', { n: 2 }), ended('r')])
      await ledger.append([started('s', { threadId: 't' }), ...upTo(3, 0).map((n) => checkpoint('s', n))])
      assertEqual(await marksOf(store), [], 'before')
      await ledger.erase({ subject: 'ann' })
      await ledger.pruneStates('s', { keep: 'windowed', window: 2 })
      const marks = ['r 1 erased', 'r 2 erased', 'r 3 erased', 's 2 pruned', 's 3 pruned']
      assertEqual(await marksOf(store), marks, 'after')
    },
  },
  {
    rule: 'L1',
    title: 'the columns and subjects of a run are given as they stand, and no row belongs to nothing',
    async run(world) {
      const store = await world.openStore()
      const ledger = await world.open({}, store)
      const name = `long ${'x'.repeat(400)}`
      await ledger.append([
        note('r', { n: 1 }),
        started('r', {
          agent: 'owl',
          agentVersion: '2',
          threadId: name,
          parentRunId: 'p',
          subjects: ['b', name],
        }),
        ended('r'),
      ])
      const summary = await ledger.getRun('r')
      const rows = await store.rows.ofRun({ workspace: 'default', runId: 'r' })
      assertEqual(
        rows?.columns,
        {
          status: 'completed',
          threadId: name,
          agent: 'owl',
          agentVersion: '2',
          parentRunId: 'p',
          startedMs: Date.parse(summary?.startedAt ?? ''),
          dueMs: null,
        },
        'columns',
      )
      assertEqual([rows?.subjects.toSorted(), rows?.scope.name], [['b', name], 'run r'], 'subjects and scope')
      assertEqual(await store.rows.ofRun({ workspace: 'default', runId: 'nobody' }), null, 'no such run')
      await ledger.append([started('t', { agent: 'owl', threadId: name, said: upTo(900) })])
      const other = await store.rows.ofRun({ workspace: 'default', runId: 't' })
      assertEqual(other?.scope.name, `thread ${name}`, 'the scope of a thread')
      assertEqual(await store.rows.strays(), [], 'strays')
      await assertSound(ledger)
    },
  },
  {
    rule: 'L1',
    title: 'a column that is not what the events fold to is named',
    async run(world) {
      const store = await world.openStore()
      const ledger = await world.open({}, store)
      await ledger.append([started('r', { agent: 'owl', subjects: ['ann'] }), ended('r')])
      const wrong: Store = {
        ...store,
        rows: {
          ...store.rows,
          async ofRun(key) {
            const rows = await store.rows.ofRun(key)
            return rows && { ...rows, columns: { ...rows.columns, agent: 'fox' }, subjects: [] }
          },
          strays: async () => [{ table: 'payloads', rows: 2 }],
        },
      }
      const { problems } = await (await world.open({}, wrong)).verify(undefined, { projections: true })
      assertEqual(
        problems.map(({ problem, runId, detail }) => [problem, runId, detail]),
        [
          ['projection_differs', 'r', 'the column agent of runs is not what its events fold to'],
          ['projection_differs', 'r', 'what the table subjects has of it is not what its events fold to'],
          ['stray_row', '', '2 rows of payloads belong to nothing'],
        ],
        'problems',
      )
    },
  },
  {
    rule: 'L6',
    title: 'a payload that goes with an erasure that does not name it is unrecorded, in a run and in memory',
    async run(world) {
      const store = await world.openStore()
      const ledger = await world.open({}, store)
      const [, second] = await ledger.append([note('other', { n: 1 }), note('other', { n: 2 })])
      await ledger.memory.put({ layer: 'long', scope: 'workspace', namespace: 'n', key: 'a', value: 1 })
      const item = await ledger.memory.put({
        layer: 'long',
        scope: 'workspace',
        namespace: 'n',
        key: 'b',
        value: 2,
        subjects: ['ann'],
      })
      await ledger.append([started('r', { subjects: ['ann'] }), ended('r')])
      const [kept] = await readAll(ledger, 'clew:memory/long/workspace')
      const more = [second, kept].map((event) => event?.ledger.position ?? 0)
      const greedy = blanking(store, (positions) => [...positions, ...more])
      await (await world.open({}, greedy)).erase({ subject: 'ann' })
      const found = ['unrecorded clew:memory/long/workspace 1', 'unrecorded other 2']
      assertEqual((await problemsOf(ledger)).toSorted(), found, 'of the workspace')
      assertEqual(await problemsOf(ledger, 'other'), ['unrecorded other 2'], 'of the run')
      assertEqual(await problemsOf(ledger, 'r'), [], 'what is named')
      assert(item.key === 'b', 'the item that is named')
    },
  },
  {
    rule: 'L6',
    title: 'a payload that an audit event says is gone, and that is there, is restored',
    async run(world) {
      const store = await world.openStore()
      const ledger = await world.open({}, store)
      await ledger.append([started('r', { subjects: ['ann'] }), note('r', { n: 2 }), ended('r')])
      const forgetful = blanking(store, (positions) => positions.slice(1))
      await (await world.open({}, forgetful)).erase({ subject: 'ann' })
      assertEqual(await problemsOf(ledger), ['restored r 1'], 'found')
    },
  },
  {
    rule: 'L6',
    title: 'a state that goes beyond what its audit event names is unrecorded',
    async run(world) {
      const store = await world.openStore()
      const ledger = await world.open({}, store)
      await ledger.append([started('r', { threadId: 't' }), ...upTo(5, 0).map((n) => checkpoint('r', n))])
      const sixth = (await readAll(ledger, 'r'))[5]?.ledger.position ?? 0
      const greedy = blanking(store, (positions) => [...positions, sixth])
      await (await world.open({}, greedy)).pruneStates('r', { keep: 'windowed', window: 2 })
      assertEqual(await problemsOf(ledger), ['unrecorded r 6'], 'found')
    },
  },
  {
    rule: 'P5',
    title:
      'the audit event of an erasure names neither the subject nor the memory of the subject, and covers both',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([started('r', { subjects: ['ann'], threadId: 'of ann' }), ended('r')])
      await ledger.append([
        note('loose', { n: 1 }),
        note('loose', { subjects: ['ann'] }),
        note('loose', { n: 3 }),
      ])
      await ledger.memory.put({ layer: 'long', scope: 'user:ann', namespace: 'n', key: 'a', value: 1 })
      assertEqual((await ledger.erase({ subject: 'ann' })).events, 4, 'what went')
      assert(!JSON.stringify(await readAll(ledger, AUDIT_RUN_ID)).includes('ann'), 'named')
      await assertSound(ledger)
    },
  },
  {
    rule: 'L11',
    title: 'an import records what it brings erased, once, and verifies; so does a redacted one',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([started('r', { subjects: ['ann'] }), note('r', { n: 2 }), ended('r')])
      await ledger.append([
        note('loose', { n: 1, mail: 'zoe@example.org' }),
        note('loose', { subjects: ['ann'] }),
        note('loose', { n: 3 }),
        note('loose', { subjects: ['ann'] }),
      ])
      await ledger.memory.put({ layer: 'long', scope: 'user:ann', namespace: 'n', key: 'a', value: 1 })
      await ledger.erase({ subject: 'ann' })
      const lines: string[] = []
      for (const runId of ['r', 'loose', 'clew:memory/long/user:ann'])
        lines.push(...(await Array.fromAsync(ledger.export({ runId }))))
      const target = await (await world.elsewhere()).open()
      for (const round of ['first', 'again']) {
        await target.import(lines)
        assertEqual((await readAll(target, 'loose')).map(isErased), [false, true, false, true], round)
        const audit = await readAll(target, AUDIT_RUN_ID)
        assertEqual(
          audit.map(({ eventType, payload }) => [eventType, payload['target'], payload['events']]),
          [['system.payload_erased', 'import', 6]],
          `recorded ${round}`,
        )
        assert(!JSON.stringify(audit).includes('ann'), 'no subject is named')
        await assertSound(target)
      }
      const whole = await (await world.elsewhere()).open()
      await whole.import(await Array.fromAsync(ledger.export()))
      assertEqual(
        (await readAll(whole, AUDIT_RUN_ID)).length,
        1,
        'with the audit run of the source nothing is recorded',
      )
      await assertSound(whole)
      const policy = { redact: { policies: ['personal' as const] } }
      const strict = await world.open(policy)
      const clean = await (await world.elsewhere()).open(policy)
      await clean.import(await Array.fromAsync(strict.export({ redacted: true })))
      await assertSound(clean)
    },
  },
  {
    rule: 'L11',
    title: 'an import does not cover what was taken away here',
    async run(world) {
      const source = await world.open()
      await source.append([started('r', { subjects: ['ann'] }), note('r', { n: 2 }), ended('r')])
      const before = await Array.fromAsync(source.export({ runId: 'r' }))
      const place = await world.elsewhere()
      const store = await place.openStore()
      const target = await place.open({}, store)
      await target.import(before)
      const silent = writing(store, (change) => ({
        ...change,
        calls: change.calls.map((call) => ({
          ...call,
          events: call.events.map((event) => ({ ...event, ...BLANK })),
        })),
      }))
      await (await place.open({}, silent)).erase({ subject: 'ann' })
      await target.import(before)
      assert((await problemsOf(target, 'r')).includes('unrecorded r 1'), 'still found')
    },
  },
  {
    rule: 'P5',
    title:
      'an erasure finds the runs of a subject, their children and forks by their events where an index lost them',
    async run(world) {
      const store = await world.openStore()
      const lost: Store = {
        ...store,
        findRuns: async (query) =>
          'below' in query || 'subjects' in query ? { runs: [], next: null } : store.findRuns(query),
      }
      const ledger = await world.open({}, lost)
      await ledger.append([started('r', { subjects: ['ann'] }), note('r', { text: 'said' }), ended('r')])
      await ledger.append([
        started('child', { parentRunId: 'r' }),
        note('child', { text: 'said' }),
        ended('child'),
      ])
      await ledger.append([started('grandchild', { parentRunId: 'child' }), ended('grandchild')])
      await ledger.append([forked('fork', 'r', 2), note('fork', { text: 'said' }), ended('fork')])
      await ledger.append([note('late', { n: 1 }), started('late', { subjects: ['ann'] }), ended('late')])
      await ledger.append([
        started('other', { subjects: ['bob'] }),
        note('other', { text: 'said' }),
        ended('other'),
      ])
      let told = 0
      const report = await ledger.erase({ subject: 'ann' }, { onProgress: (events) => void (told = events) })
      assertEqual([report.runs, report.events], [5, 14], 'what went')
      assert(told >= 14, 'progress is told')
      for (const runId of ['r', 'child', 'grandchild', 'fork', 'late'])
        assert((await readAll(ledger, runId)).every(isErased), `${runId} is erased`)
      assert(!(await readAll(ledger, 'other')).some(isErased), 'others stay')
      await ledger.append([started('top'), ended('top')])
      await ledger.append([started('below', { parentRunId: 'top' }), ended('below')])
      assertEqual((await ledger.erase({ runId: 'top' })).runs, 2, 'a run with its child')
    },
  },
]

/** Every mark, page by page. */
async function marksOf(store: Store): Promise<string[]> {
  const found: string[] = []
  for (let afterPosition = 0; ; ) {
    const page = await store.rows.marks({ afterPosition, limit: 2 })
    for (const { isErased, isPruned, event } of page)
      found.push(`${event?.runId} ${event?.seq}${isErased ? ' erased' : ''}${isPruned ? ' pruned' : ''}`)
    if (page.length < 2) return found
    afterPosition = page.at(-1)?.position ?? afterPosition
  }
}

/** An audit event that says nothing. */
const BLANK = { payload: {}, text: '{}', tree: undefined }
