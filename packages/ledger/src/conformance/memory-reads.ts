import type { ClewEvent } from '../event/envelope.ts'
import { foldMemory, wordsOf } from '../memory/fold.ts'
import { memoryRunId, type MemoryRow } from '../memory/item.ts'
import { namedIn } from '../memory/memory-index.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { found, listed, long, names } from './memory-names.ts'
import { readAll, type StoreTest } from './world.ts'

export const memoryReadTests: readonly StoreTest[] = [
  {
    rule: 'M2',
    title: 'items are listed by namespace, with what lies below it, and by tags, page by page',
    async run(world) {
      const ledger = await world.open()
      const put = (namespace: string, key: string, tags: string[] = []) =>
        ledger.memory.put({ ...long, namespace, key, value: key, tags })
      await put('facts', 'b', ['x', 'y'])
      await put('facts/people', 'a', ['x'])
      await put('facts-old', 'c')
      await put('facts', 'B')
      await put('\u{1F989}', 'astral')
      await put('\uFB01', 'high')
      await ledger.memory.put({ layer: 'session', scope: 't', namespace: 'facts', key: 's', value: 1 })
      assertEqual(
        await listed(ledger, { namespaces: ['facts'], scopes: [long] }),
        ['facts/B', 'facts/b', 'facts/people/a'],
        'below',
      )
      assertEqual(await listed(ledger, { tags: ['x'] }), ['facts/b', 'facts/people/a'], 'by tag')
      assertEqual(await listed(ledger, { tags: ['x', 'y'] }), ['facts/b'], 'by all tags')
      assertEqual(await listed(ledger, { layers: ['session'] }), ['facts/s'], 'by layer')
      assertEqual(await listed(ledger, { scopes: [{ layer: 'session', scope: 'u' }] }), [], 'by scope')
      const all = await listed(ledger)
      assertEqual(all.slice(-3, -1), ['\uFB01/high', '\u{1F989}/astral'], 'in the order of code points')
      const paged: string[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await ledger.memory.list({ limit: 2, cursor })
        paged.push(...names(page.items))
        if (page.nextCursor === null) break
        cursor = page.nextCursor
      }
      assertEqual(paged, all, 'page by page')
      await assertRefused(() => ledger.memory.list({ cursor: 'x' }), 'bad_option', { option: 'cursor' })
      const { problems } = await ledger.verify(undefined, { projections: true })
      assertEqual(problems, [], 'rows are what the memory runs fold to')
    },
  },
  {
    rule: 'M2',
    title: 'search ranks rare words over common ones, names over texts and new over old',
    async run(world) {
      const ledger = await world.open()
      const put = (key: string, value: unknown, tags: string[] = []) =>
        ledger.memory.put({ ...long, namespace: 'notes', key, value, tags })
      await put('colour', 'green')
      await put('essay', 'the colour of barn owls is a pale colour')
      for (let n = 0; n < 8; n++) await put(`common${n}`, `the owls of ${n}`)
      await put('old', 'a word')
      world.turnClock(30 * 86_400_000)
      await put('new', { deep: [{ text: 'a word' }] })
      assertEqual((await found(ledger, 'colour')).slice(0, 2), ['notes/colour', 'notes/essay'], 'names first')
      assertEqual((await found(ledger, 'the barn'))[0], 'notes/essay', 'the rare word')
      assertEqual(await found(ledger, 'word'), ['notes/new', 'notes/old'], 'the newer first')
      assertEqual(await found(ledger, '"barn owls"'), ['notes/essay'], 'a phrase')
      assertEqual(await found(ledger, '"owls barn"'), [], 'no phrase')
      assertEqual(await found(ledger, 'COLÓUR -barn'), ['notes/colour'], 'folded, and without')
      assertEqual((await found(ledger, 'gre*'))[0], 'notes/colour', 'a beginning')
      assertEqual(await found(ledger, 'what: ever (this)? nothing'), [], 'any text is a query')
      assertEqual(await found(ledger, 'colour', { layers: ['session'] }), [], 'in another layer')
      assertEqual(await found(ledger, 'colour', { namespaces: ['note'] }), [], 'in another namespace')
      const [hit] = await ledger.memory.search('pale')
      const { text = '', marks = [] } = hit?.highlight ?? {}
      assertEqual(
        marks.map(([from, to]) => text.slice(from, to)),
        ['pale'],
        'marks',
      )
      await ledger.memory.put({ ...long, namespace: 'notes', key: 'essay', value: 'about foxes' })
      assertEqual(await found(ledger, 'pale'), [], 'words of the version before')
      await ledger.memory.forget({ ...long, namespace: 'notes', key: 'colour' })
      assertEqual(await found(ledger, 'colour'), [], 'words of what is forgotten')
      await assertRefused(() => ledger.memory.search('  ?? '), 'bad_option', { option: 'query' })
    },
  },
  {
    rule: 'L1',
    title: 'the index says which items it would find by other words, or not at all',
    async run(world) {
      const ledger = await world.open()
      for (const key of ['red', 'blue'])
        await ledger.memory.put({ ...long, namespace: 'colours', key, value: `${key} words` })
      const { memory } = await world.openStore()
      await ledger.memory.list({})
      const memoryRun = memoryRunId(long)
      const rows = new Map<string, MemoryRow>()
      const events = await readAll(ledger, memoryRun)
      for (const event of events) foldMemory(rows, event)
      const stored = [...rows.values()].map((row, at) => ({
        ...row,
        words: wordsOf(row, events[at] as ClewEvent),
      }))
      const [red, blue] = stored
      assert(red && blue, 'two rows')
      const differing = (...changed: typeof stored): Promise<number[]> => memory.differing('default', changed)
      assertEqual(await differing(red, blue), [], 'as they were written')
      const other = { ...red, words: { ...red.words, text: 'green words' } }
      assertEqual(await differing(other, blue), [red.position], 'other text')
      const renamed = { ...blue, words: { ...blue.words, name: 'green' } }
      assertEqual(await differing(red, renamed), [blue.position], 'other name')
      await ledger.memory.forget({ ...long, namespace: 'colours', key: 'red' })
      await ledger.memory.list({})
      assertEqual(await differing(red, blue), [red.position], 'forgotten')
    },
  },
  {
    rule: 'M2',
    title: 'a context takes the best that fits into its budget, and the same again',
    async run(world) {
      const ledger = await world.open()
      for (let n = 0; n < 30; n++)
        await ledger.memory.put({
          ...long,
          namespace: 'facts',
          key: `f${n}`,
          value: `fact number ${n} ${'about owls '.repeat(5)}`,
        })
      await ledger.memory.put({ ...long, namespace: 'facts', key: 'tea', value: 'Alice likes green tea' })
      await ledger.memory.put({
        layer: 'short',
        scope: 'r',
        namespace: 'plan',
        key: 'next',
        value: 'ask about tea',
      })
      await ledger.memory.put({
        layer: 'short',
        scope: 'r',
        namespace: 'plan',
        key: 'huge',
        value: 'x'.repeat(10_000),
      })
      const context = await ledger.memory.context({ query: 'Which tea does Alice like?', budgetTokens: 100 })
      assertEqual(names(context.items).slice(0, 2), ['plan/next', 'facts/tea'], 'the best first')
      assert(
        context.tokens <= 100 && context.left > 0 && !names(context.items).includes('plan/huge'),
        'the budget',
      )
      world.turnClock(86_400_000)
      assertEqual(
        await ledger.memory.context({ query: 'Which tea does Alice like?', budgetTokens: 100 }),
        context,
        'later',
      )
      assertEqual(
        (await ledger.memory.context({ budgetTokens: 10 })).text,
        '- plan/next: ask about tea',
        'without a query',
      )
      await assertRefused(() => ledger.memory.context({ budgetTokens: 0 }), 'bad_option')
    },
  },
  {
    rule: 'P1',
    title: 'secrets are taken out of what is remembered, and names that hold one still find their item',
    async run(world) {
      const ledger = await world.open()
      const secret = `sk-${'a1B2c3D4e5F6g7H8i9J0'.repeat(2)}`
      const name = { ...long, namespace: 'keys', key: secret }
      await ledger.memory.put({ ...name, value: { note: `use ${secret}` } })
      await ledger.memory.put({ ...long, namespace: 'keys', key: 'password', value: 'hunter2-is-a-bad-one' })
      const text = JSON.stringify([await ledger.memory.list(), await readAll(ledger, memoryRunId(long))])
      assert(!text.includes(secret) && !text.includes('hunter2'), 'a secret was kept')
      assert((await ledger.memory.get(name)) !== null, 'it is found by the same name')
      await ledger.memory.forget(name)
      assertEqual(await ledger.memory.get(name), null, 'forgotten by the same name')
    },
  },
  {
    rule: 'P5',
    title: 'rows of erased events go, with their words, and the rest is what the memory runs still say',
    async run(world) {
      const ledger = await world.open()
      const store = await world.openStore()
      await ledger.memory.put({ ...long, namespace: 'n', key: 'k', value: 'about owls' })
      await ledger.memory.put({ ...long, namespace: 'n', key: 'l', value: 'about foxes' })
      assertEqual(await found(ledger, 'owls'), ['n/k'], 'before')
      const names = namedIn('default', [memoryRunId(long)], [{ namespace: 'n', key: 'k' }])
      const [row] = await store.memory.list(names)
      await store.write({ calls: [], blank: [{ as: 'erased', positions: [row?.position ?? 0] }] })
      assertEqual(await store.memory.list(names), [], 'the row')
      assertEqual([await found(ledger, 'owls'), await listed(ledger)], [[], ['n/l']], 'after')
      await ledger.memory.put({ ...long, namespace: 'n', key: 'k', value: 'again' })
      assertEqual(await listed(ledger), ['n/k', 'n/l'], 'written again')
    },
  },
]
