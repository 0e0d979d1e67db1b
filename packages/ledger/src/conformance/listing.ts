import type { Ledger, RunFilter } from '../ledger.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { note, started, type StoreTest, upTo } from './world.ts'

async function allRuns(
  ledger: Ledger,
  filter: RunFilter,
  between?: () => Promise<unknown>,
): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await ledger.listRuns({ ...filter, cursor })
    assert(page.runs.length <= (filter.limit ?? 50), 'a page is no longer than asked for')
    found.push(...page.runs.map((run) => run.runId))
    if (page.nextCursor === null) return found
    cursor = page.nextCursor
    await between?.()
  }
}

const run = (n: number): string => `run-${String(n).padStart(3, '0')}`

export const listingTests: readonly StoreTest[] = [
  {
    rule: 'R4',
    title: 'runs are listed newest first, in pages of any size, each once',
    async run(world) {
      const ledger = await world.open()
      for (const n of upTo(25)) await ledger.record(note(run(n)))
      // Later events do not move a run: pages stay stable.
      await ledger.record(note(run(3)))
      const expected = upTo(25).toReversed().map(run)
      for (const limit of [1, 7, 25, 26, 10_000])
        assertEqual(await allRuns(ledger, { limit }), expected, `pages of ${limit}`)
      assertEqual((await ledger.listRuns({ limit: 25 })).nextCursor, null, 'no cursor after the last page')
      assertEqual(
        await (await (await world.elsewhere()).open()).listRuns(),
        { runs: [], nextCursor: null },
        'empty',
      )
    },
  },
  {
    rule: 'R4',
    title: 'pages are stable while runs are added and changed',
    async run(world) {
      const [ledger, writer] = [await world.open(), await world.open()]
      for (const n of upTo(40)) await ledger.record(note(run(n)))
      let added = 100
      const found = await allRuns(ledger, { limit: 6 }, async () => {
        await writer.append([note(run(added++)), note(run(added++)), note(run(5), { again: true })])
      })
      assertEqual(found, upTo(40).toReversed().map(run), 'what was there at the beginning')
    },
  },
  {
    rule: 'R4',
    title: 'system runs are listed by their kind, and not among runs',
    async run(world) {
      const ledger = await world.open()
      const ids = [
        'clew:stream/a',
        'run-1',
        'clew:stream/b/c',
        'clew:audit',
        'clew;',
        'clew',
        'clew:streams/x',
      ]
      for (const id of ids) await ledger.record(note(id))
      assertEqual(await allRuns(ledger, { limit: 2 }), ['clew', 'clew;', 'run-1'], 'runs')
      assertEqual(
        await allRuns(ledger, { limit: 1, systemRun: 'stream' }),
        ['clew:stream/b/c', 'clew:stream/a'],
        'streams',
      )
      assertEqual(
        await allRuns(ledger, { systemRun: 'audit' }),
        [],
        'the only one of its kind is not one of many',
      )
      assert((await ledger.getRun('clew:audit')) !== null, 'a system run is a run')
      assertEqual((await ledger.verify()).checked, ids.length, 'system runs are verified')
    },
  },
  {
    rule: 'R4',
    title: 'by status, agent, thread and time, alone and together',
    async run(world) {
      const ledger = await world.open()
      for (const n of upTo(24)) {
        const timestamp = `2026-01-${String(n).padStart(2, '0')}T00:00:00Z`
        const payload = { agent: n % 2 ? 'owl' : 'fox', threadId: `t${n % 3}` }
        await ledger.record({ ...started(run(n), payload), timestamp })
        if (n % 4 === 0)
          await ledger.record({ eventType: 'system.workflow_completed', correlationId: run(n), payload: {} })
      }
      const matching = (keep: (n: number) => boolean): string[] => upTo(24).filter(keep).toReversed().map(run)
      const cases: readonly (readonly [RunFilter, (n: number) => boolean])[] = [
        [{ status: 'completed' }, (n) => n % 4 === 0],
        [{ status: 'running' }, (n) => n % 4 !== 0],
        [{ status: 'failed' }, () => false],
        [{ agent: 'owl' }, (n) => n % 2 === 1],
        [{ threadId: 't1' }, (n) => n % 3 === 1],
        [{ since: '2026-01-20T00:00:00.000Z' }, (n) => n >= 20],
        [{ since: '2026-01-20T01:00:00+01:00' }, (n) => n >= 20],
        [{ since: new Date('2026-01-19T12:00:00Z') }, (n) => n >= 20],
        [
          { status: 'completed', agent: 'fox', threadId: 't2', since: '2026-01-05T00:00:00Z' },
          (n) => n % 12 === 8 && n >= 5,
        ],
      ]
      for (const [filter, keep] of cases)
        for (const limit of [1, 3, 100])
          assertEqual(await allRuns(ledger, { ...filter, limit }), matching(keep), JSON.stringify(filter))
    },
  },
  {
    rule: 'R4',
    title: 'a cursor that no listing gave is refused, on the store too',
    async run(world) {
      const ledger = await world.open()
      await ledger.record(note('r'))
      for (const cursor of ['', 'x', '1; DROP TABLE runs', '-1', '1.5', 'NaN', '9'.repeat(40)])
        await assertRefused(() => ledger.listRuns({ cursor }), 'bad_option', { option: 'cursor' })
    },
  },
  {
    rule: 'R4',
    title: 'what is unknown is null or empty, not an error',
    async run(world) {
      const ledger = await world.open()
      assertEqual(await ledger.getRun('nobody'), null, 'run')
      assertEqual(await ledger.getSteps('nobody'), [], 'steps')
      assertEqual(await ledger.getSkeleton('nobody'), [], 'skeleton')
      const store = await world.openStore()
      assertEqual(await store.info('workspaces'), { workspaces: [] }, 'workspaces')
      assertEqual(
        await store.readRun({ workspace: 'w', runId: 'r' }, { afterSeq: 0, limit: 5 }),
        [],
        'events',
      )
      assertEqual([...(await store.values.read([]))], [], 'nodes')
      const { stats, lastPosition } = await store.info('stats', 'lastPosition')
      assertEqual([stats.events, stats.runs, stats.values, lastPosition], [0, 0, 0, 0], 'stats')
    },
  },
  {
    rule: 'A3',
    title: 'a start that comes after other events of its run says whose it is, and runs are found by that',
    async run(world) {
      const [ledger, other] = [await world.open(), await world.open()]
      const step = (runId: string, name: string, payload = {}) => ({
        eventType: 'execution.step_completed' as const,
        correlationId: runId,
        timestamp: '2026-11-15T07:00:05Z',
        payload: { stepId: name, name, long: 'x'.repeat(3000), ...payload },
      })
      const late = (runId: string) => ({
        eventType: 'system.workflow_started' as const,
        correlationId: runId,
        timestamp: '2026-11-15T07:00:00Z',
        payload: { agent: 'owl', agentVersion: '2', threadId: 't', subjects: ['p', 'q'], parentRunId: 'up' },
      })
      await ledger.append([step('a', 's1', { agent: 'service', subjects: ['p'] }), step('b', 's1')])
      assertEqual((await ledger.getRun('a'))?.status, 'running', 'what works is running')
      // Together with others, after another connection has written, and with the run's first event.
      await other.append([step('b', 's2'), late('a')])
      await ledger.append([step('a', 's3'), late('b'), step('c', 's1'), late('c'), note('d')])
      for (const runId of ['a', 'b', 'c']) {
        const run = await ledger.getRun(runId)
        const { agent, agentVersion, threadId, subjects, parentRunId, startedAt } = run ?? {}
        assertEqual(
          [agent, agentVersion, threadId, subjects, parentRunId, startedAt],
          ['owl', '2', 't', ['p', 'q'], 'up', '2026-11-15T07:00:00Z'],
          `whose ${runId} is`,
        )
      }
      assertEqual(await allRuns(ledger, { agent: 'owl' }), ['c', 'b', 'a'], 'by agent')
      assertEqual(await allRuns(other, { threadId: 't' }), ['c', 'b', 'a'], 'by thread')
      assertEqual(await allRuns(ledger, { agent: 'service' }), [], 'not by what was taken for the agent')
      assertEqual(
        (await ledger.findBelow(['up'])).map((run) => run.runId),
        ['a', 'b', 'c'],
        'by parent',
      )
      const since = '2026-11-15T07:00:03Z'
      assertEqual((await allRuns(ledger, { since })).includes('a'), false, 'by when it began')
      const { ok, problems } = await ledger.verify(undefined, { projections: true })
      assert(ok, JSON.stringify(problems))
    },
  },
]
