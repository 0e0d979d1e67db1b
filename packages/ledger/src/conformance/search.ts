import type { EventInput } from '../event/envelope.ts'
import type { Ledger } from '../ledger.ts'
import { toDocument } from '../search/extract.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { forked, indexAll, note, started, type StoreTest, upTo } from './world.ts'

const event = (correlationId: string, eventType: string, payload: Record<string, unknown>): EventInput => ({
  eventType,
  correlationId,
  payload,
})

async function ids(ledger: Ledger, query: string): Promise<string[]> {
  const { hits, lag } = await ledger.search(query, { catchUpMs: 60_000 })
  assertEqual(lag, 0, 'lag')
  return hits.map((hit) => hit.run.runId).toSorted()
}

async function fill(ledger: Ledger): Promise<void> {
  await ledger.append([
    started('owls', { agent: 'research', threadId: 't1', input: { question: 'Why do owls fly quietly?' } }),
    event('owls', 'execution.step_started', { stepId: 'plan#0', name: 'plan' }),
    event('owls', 'execution.tool_call', {
      name: 'web_search',
      arguments: { q: 'feathers of the barn owl' },
    }),
    event('owls', 'execution.tool_result', {
      name: 'web_search',
      result: ['Soft edges', { page: 'Fringes 404' }],
    }),
    event('owls', 'execution.message', {
      role: 'assistant',
      content: 'Because of Žluťoučký fringes — 静かな翼',
    }),
    event('owls', 'system.workflow_completed', { output: 'done' }),
    started('foxes', { agent: 'reporter', threadId: 't2' }),
    event('foxes', 'execution.tool_call', {
      name: 'read_page',
      arguments: { url: 'https://fox.example/den' },
    }),
    event('foxes', 'execution.tool_error', {
      name: 'read_page',
      error: { name: 'TimeoutError', message: 'it took too long' },
    }),
    event('foxes', 'system.workflow_failed', {
      error: { name: 'TimeoutError', message: 'gave up on the owl' },
    }),
    event('bare', 'integration.anything', { deep: [[[['hidden treasure']]]], count: 77 }),
  ])
}

export const searchTests: readonly StoreTest[] = [
  {
    rule: 'L1',
    title: 'search finds names, errors, messages, tool arguments and results, and values',
    async run(world) {
      const ledger = await world.open()
      await fill(ledger)
      const cases: readonly (readonly [string, readonly string[]])[] = [
        ['plan', ['owls']],
        ['feathers', ['owls']],
        ['FEATHERS owl', ['owls']],
        ['fringes', ['owls']],
        ['404', ['owls']],
        ['TimeoutError', ['foxes']],
        ['owl', ['foxes', 'owls']],
        ['"too long"', ['foxes']],
        ['"long too"', []],
        ['treasure', ['bare']],
        ['77', ['bare']],
        ['fring*', ['owls']],
        ['"barn ow"*', ['owls']],
        ['ring*', []],
        ['zlutoucky', ['owls']],
        ['静か', ['owls']],
        ['owl -feathers', ['foxes']],
        ['owl -"gave up"', ['owls']],
        ['nowhere', []],
      ]
      for (const [query, expected] of cases) assertEqual(await ids(ledger, query), expected, query)
    },
  },
  {
    rule: 'L1',
    title:
      'search filters by status, agent, tool, type, run, thread and time, also negated and by beginnings',
    async run(world) {
      const ledger = await world.open()
      await fill(ledger)
      const cases: readonly (readonly [string, readonly string[]])[] = [
        ['status:failed', ['foxes']],
        ['status:failed,completed', ['foxes', 'owls']],
        ['-status:failed', ['bare', 'owls']],
        ['agent:research', ['owls']],
        ['agent:re*', ['foxes', 'owls']],
        ['-agent:research', ['bare', 'foxes']],
        ['tool:web_search', ['owls']],
        ['tool:read*', ['foxes']],
        ['tool:no*', []],
        ['owl tool:web_search', ['owls']],
        ['type:tool_error', ['foxes']],
        ['type:execution.tool_error', ['foxes']],
        ['type:integration.*', ['bare']],
        ['run:owls', ['owls']],
        ['run:fo*', ['foxes']],
        ['-run:owls owl', ['foxes']],
        ['thread:t2', ['foxes']],
        ['since:1h', ['bare', 'foxes', 'owls']],
        ['since:2999-01-01', []],
        ['owl since:2999-01-01', []],
        ['cost:>0.05', []],
        ['status:failed owl agent:reporter', ['foxes']],
        ['status:completed TimeoutError', []],
      ]
      for (const [query, expected] of cases) assertEqual(await ids(ledger, query), expected, query)
      await ledger.append([event('foxes', 'system.workflow_resumed', {})])
      assertEqual(await ids(ledger, 'status:failed'), [], 'a status that has changed')
      assertEqual(await ids(ledger, 'status:running TimeoutError'), ['foxes'], 'its new one')
    },
  },
  {
    rule: 'L1',
    title: 'hits are grouped by run, with seqs and marked places, best first',
    async run(world) {
      const ledger = await world.open()
      await fill(ledger)
      const { hits } = await ledger.search('fringes', { catchUpMs: 60_000 })
      assertEqual(hits.length, 1, 'runs')
      const [hit] = hits
      assertEqual(hit?.events.map((each) => each.seq).toSorted(), [4, 5], 'seqs')
      for (const { highlight } of hit?.events ?? []) {
        assert(highlight, 'a highlight')
        const words = highlight.marks.map(([from, to]) => highlight.text.slice(from, to).toLowerCase())
        assertEqual(words, ['fringes'], 'marked')
      }
      await ledger.append([
        note('weak', { value: `zebra ${'other words '.repeat(200)}` }),
        event('strong', 'execution.tool_error', { name: 'zebra', error: 'zebra zebra' }),
        note('weak too', { value: `zebra ${'other words '.repeat(200)}` }),
      ])
      const ranked = await ledger.search('zebra', { catchUpMs: 60_000 })
      assertEqual(ranked.hits[0]?.run.runId, 'strong', 'best first')
      assertEqual(await ids(ledger, 'zebra'), ['strong', 'weak', 'weak too'], 'all')
    },
  },
  {
    rule: 'L1',
    title: 'search is paged, each run once, while events arrive',
    async run(world) {
      const ledger = await world.open()
      const many = (n: number): EventInput[] => upTo(3).map((i) => note(`run-${n}`, { text: `needle ${i}` }))
      for (const n of upTo(300)) await ledger.append(many(n))
      await ledger.search('needle', { catchUpMs: 60_000 })
      const found: string[] = []
      for (let cursor: string | undefined, page = 0; ; page++) {
        const { hits, nextCursor } = await ledger.search('needle', { limit: 70, cursor, catchUpMs: 60_000 })
        found.push(...hits.map((hit) => hit.run.runId))
        if (nextCursor === null) break
        cursor = nextCursor
        await ledger.append(many(1000 + page))
      }
      assertEqual(new Set(found).size, found.length, 'each once')
      assertEqual(
        found.toSorted(),
        upTo(300)
          .map((n) => `run-${n}`)
          .toSorted(),
        'all that were there',
      )
      for (const cursor of ['', 'x', 'a1', '1.1', "a1.1'"])
        await assertRefused(() => ledger.search('needle', { cursor }), 'bad_option', { option: 'cursor' })
    },
  },
  {
    rule: 'L1',
    title: 'the index goes on where it stands, takes nothing twice, and is made anew on request',
    async run(world) {
      const [ledger, other] = [await world.open(), await world.open()]
      await fill(ledger)
      assertEqual((await ledger.indexState()).lag, 11, 'lag before')
      const { lag, hits } = await ledger.search('owl', { catchUpMs: 0 })
      assertEqual([lag, hits.length], [11, 0], 'asked as it is')
      await Promise.all([indexAll(ledger), indexAll(other), indexAll(ledger)])
      const position = await ledger.lastPosition()
      assertEqual(await ledger.indexState(), { position, lag: 0, isCurrent: true }, 'after')
      const count = async (): Promise<number | undefined> =>
        (await ledger.search('TimeoutError')).hits[0]?.found
      assertEqual(await count(), 2, 'events found')
      const store = await world.openStore()
      const events = await Array.fromAsync(ledger.read('owls'))
      const [first, ...others] = events.map(toDocument)
      assert(first, 'a document')
      const positions = others.map(({ position: at }) => at)
      const longer = { ...first, fields: { ...first.fields, message: 'feathers' } }
      assertEqual(await store.search.differing([first, ...others]), [], 'as they were added')
      assertEqual(await store.search.differing([longer, ...others]), [first.position], 'with other words')
      const later = others.map((other) => ({ ...other, position: other.position + 1000 }))
      assertEqual(
        (await store.search.differing(later)).toSorted((a, b) => a - b),
        positions.map((each) => each + 1000),
        'not in it',
      )
      assertEqual(
        await store.search.add({ from: 3, position, version: 1, documents: [] }),
        false,
        'elsewhere',
      )
      await ledger.index({ rebuild: true })
      assertEqual([await count(), (await other.indexState()).position], [2, position], 'made anew')
    },
  },
  {
    rule: 'A2',
    title: 'search never leaves its workspace, and a fork is found by its own events',
    async run(world) {
      const [ledger, other] = [await world.open(), await world.open({ workspace: 'other' })]
      await fill(ledger)
      await other.record(note('theirs', { text: 'owl feathers' }))
      assertEqual(await ids(other, 'feathers'), ['theirs'], 'the other')
      assertEqual(await ids(ledger, 'feathers'), ['owls'], 'this one')
      assertEqual(await ids(other, 'run:owls'), [], 'by run')
      await ledger.append([forked('branch', 'owls', 5), note('branch', { text: 'feathers again' })])
      assertEqual(await ids(ledger, 'feathers'), ['branch', 'owls'], 'with the fork')
      assertEqual(await ids(ledger, 'agent:research'), ['branch', 'owls'], 'whose agent is its source’s')
    },
  },
  {
    rule: 'L1',
    title: 'long words are skipped, odd characters do no harm',
    async run(world) {
      const ledger = await world.open()
      const long = 'x'.repeat(65)
      await ledger.append([
        note('long', { text: `${'y'.repeat(64)} ${long} after` }),
        note('odd', { text: '"quoted" OR NEAR( \u0000\u202eright\u001b[2J -minus * ^ { a:b }' }),
      ])
      assertEqual(await ids(ledger, 'y'.repeat(64)), ['long'], '64 characters')
      assertEqual(await ids(ledger, 'after'), ['long'], 'what stands beside')
      await assertRefused(() => ledger.search(long), 'bad_option', { option: 'query', at: 1 })
      for (const query of ['quoted', '"OR NEAR("', 'right', '"a:b"', 'minus', '"2J -minus * ^ { a"'])
        assertEqual(await ids(ledger, query), ['odd'], query)
      await assertRefused(() => ledger.search('ok stauts:red'), 'bad_option', { option: 'query', at: 4 })
    },
  },
]
