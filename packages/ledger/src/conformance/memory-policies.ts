import { type MemoryItem, memoryRunId } from '../memory/item.ts'
import { assertEqual, assertRefused } from './assert.ts'
import { listed, long } from './memory-names.ts'
import { readAll, started, type StoreTest } from './world.ts'

export const memoryPolicyTests: readonly StoreTest[] = [
  {
    rule: 'M2',
    title: 'promotion goes by declared rules only, upwards, once, with its reason',
    async run(world) {
      const rules = [
        { from: 'short', to: 'session', when: { tags: ['keep'] } },
        {
          from: 'session',
          to: 'long',
          scope: 'agent',
          when: (item: MemoryItem) => item.value === 'yes',
          reason: 'it said yes',
        },
      ] as const
      const ledger = await world.open({ memory: { promote: rules } })
      await assertRefused(async () => (await world.open()).memory.promote(), 'bad_option')
      await ledger.append([started('r', { agent: 'owl', threadId: 't' }), started('lone')])
      const put = (scope: string, key: string, value: string, tags: string[] = []) =>
        ledger.memory.put({ layer: 'short', scope, namespace: 'n', key, value, tags }, { runId: scope })
      await put('r', 'a', 'yes', ['keep'])
      await put('r', 'b', 'no', ['keep'])
      await put('r', 'c', 'yes')
      await put('lone', 'd', 'yes', ['keep'])
      const dry = await ledger.memory.promote({ dryRun: true })
      assertEqual(
        [dry.promoted.length, await listed(ledger, { layers: ['session', 'long'] })],
        [2, []],
        'a dry run',
      )
      const { promoted, kept } = await ledger.memory.promote()
      assertEqual(
        promoted.map(({ key, to, reason }) => [key, to.layer, to.scope, reason]),
        [
          ['a', 'session', 't', 'short to session: tagged keep'],
          ['b', 'session', 't', 'short to session: tagged keep'],
          ['a', 'long', 'agent:owl', 'it said yes'],
        ],
        'promoted',
      )
      assertEqual(
        kept.map(({ key }) => key),
        ['d'],
        'a run without a thread',
      )
      const again = await ledger.memory.promote()
      assertEqual([again.promoted.length, again.before], [0, 3], 'once')
      const name = { layer: 'long', scope: 'agent:owl', namespace: 'n', key: 'a' } as const
      const item = await ledger.memory.get(name)
      const causes = await ledger.causes(item?.provenance.eventId ?? '')
      assertEqual(
        causes.map((event) => event.eventType),
        ['execution.memory_promoted', 'execution.memory_written'],
        'where it comes from',
      )
      // An item forgotten in the target stays forgotten; a newer one there is not replaced by an older; a new version
      // is promoted again.
      await ledger.memory.forget(name)
      assertEqual(
        [(await ledger.memory.promote()).promoted, await ledger.memory.get(name)],
        [[], null],
        'forgotten',
      )
      await put('r', 'b', 'yes', ['keep'])
      await ledger.memory.put({ ...name, key: 'e', value: 'newer' })
      assertEqual((await ledger.memory.promote()).promoted.length, 2, 'a new version')
      await assertRefused(
        () => world.open({ memory: { promote: [{ from: 'long', to: 'short', when: { tags: ['x'] } }] } }),
        'bad_option',
      )
    },
  },
  {
    rule: 'M3',
    title: 'a sweep forgets what has expired and what its layer does not keep, and says so before',
    async run(world) {
      const day = 86_400_000
      const ledger = await world.open({
        memory: {
          retention: {
            short: { ttlMs: day },
            session: { ttlMs: 30 * day },
            long: { maxItems: 3, maxBytes: 60 },
          },
        },
      })
      const put = (
        layer: 'short' | 'session' | 'long',
        scope: string | undefined,
        key: string,
        value: unknown = key,
        more = {},
      ) => ledger.memory.put({ layer, scope, namespace: 'n', key, value, ...more })
      await ledger.append([started('done', { threadId: 't' }), started('open')])
      await put('short', 'done', 'a')
      await put('short', 'open', 'b')
      await put('session', 't', 'c')
      await put('session', 'busy', 'd')
      for (const key of ['e', 'f', 'g', 'h']) await put('long', undefined, key)
      await put('long', undefined, 'big', 'x'.repeat(100))
      await put('long', undefined, 'gone', 1, { ttlMs: 1000 })
      await ledger.append([{ eventType: 'system.workflow_completed', correlationId: 'done' }])
      world.turnClock(2 * day)
      const dry = await ledger.memory.sweep({ dryRun: true })
      const shown = ({ items }: typeof dry): string[] =>
        items.map(({ key, reason }) => `${key} ${reason}`).toSorted()
      const expected = ['a ttl', 'big max_bytes', 'e max_items', 'gone expired']
      assertEqual(shown(dry), expected, 'what would go')
      assertEqual(
        await listed(ledger),
        ['n/e', 'n/f', 'n/g', 'n/h', 'n/big', 'n/d', 'n/c', 'n/b', 'n/a'].toSorted(
          (x, y) => listOrder(x) - listOrder(y),
        ),
        'a dry run',
      )
      const swept = await ledger.memory.sweep()
      assertEqual([shown(swept), swept.forgotten], [expected, 4], 'what went')
      assertEqual((await ledger.memory.sweep()).forgotten, 0, 'a second time')
      world.turnClock(29 * day)
      await put('session', 'busy', 'fresh')
      assertEqual(shown(await ledger.memory.sweep()), ['c ttl'], 'an idle thread')
      const events = await readAll(ledger, memoryRunId(long), { types: ['execution.memory_forgotten'] })
      assertEqual(
        events.map(({ payload }) => payload['reason']),
        ['expired', 'max_bytes', 'max_items'],
        'each is an event',
      )
    },
  },
  {
    rule: 'M2',
    title: 'items go to another ledger as lines, and an import that was cut off is done again',
    async run(world) {
      const [ledger, target] = [await world.open(), await (await world.elsewhere()).open()]
      for (let n = 0; n < 5; n++)
        await ledger.memory.put({
          layer: 'session',
          scope: 't',
          namespace: 'n',
          key: `${n}`,
          value: { n, at: new Date(n) },
          tags: ['t'],
        })
      await ledger.memory.put({ ...long, namespace: 'n', key: 'soon', value: 1, ttlMs: 5000 })
      const lines = await Array.fromAsync(ledger.memory.export())
      assertEqual(lines.length, 6, 'lines')
      assertEqual(
        await target.memory.import(lines.slice(2, 4)),
        { written: 2, unchanged: 0, expired: 0 },
        'a part',
      )
      world.turnClock(6000)
      assertEqual(
        await target.memory.import([lines.join('')]),
        { written: 3, unchanged: 2, expired: 1 },
        'all of it',
      )
      const strip = ({ items }: { items: MemoryItem[] }) =>
        items.map(({ key, value, tags }) => ({ key, value, tags }))
      assertEqual(strip(await target.memory.list()), strip(await ledger.memory.list()), 'the items')
      await assertRefused(() => target.memory.import(['{"layer":"short"}\n']), 'bad_option', { line: 1 })
      await assertRefused(() => target.memory.import([lines[0] as string, 'no json']), 'broken_import', {
        line: 2,
      })
    },
  },
  {
    rule: 'M3',
    title: 'what cannot be remembered is refused with one clear error, and nothing is changed',
    async run(world) {
      const ledger = await world.open()
      const item = { ...long, namespace: 'n', key: 'k', value: 1 }
      const bad = [
        { ...item, layer: 'medium' },
        { ...item, scope: 'nobody' },
        { layer: 'short', namespace: 'n', key: 'k', value: 1 },
        { ...item, namespace: '/n' },
        { ...item, namespace: 'a//b' },
        { ...item, key: '' },
        { ...item, key: 'a\u0000b' },
        { ...item, key: '\ud800' },
        { ...item, tags: [''] },
        { ...item, ttlMs: 0 },
        { ...item, expiresAt: '2001-01-01T00:00:00Z' },
        { ...item, expiresAt: 'tomorrow' },
        { ...item, ttlMs: 5, expiresAt: '2999-01-01T00:00:00Z' },
      ] as (typeof item)[]
      for (const each of bad) await assertRefused(() => ledger.memory.put(each), 'bad_option')
      await assertRefused(() => ledger.memory.put({ ...item, value: () => 1 }), 'bad_value')
      await assertRefused(() => ledger.memory.put(item, { ifVersion: -1 }), 'bad_option')
      await assertRefused(() => ledger.memory.put(item, { ifVersion: 3 }), 'conflict', { version: 0 })
      await assertRefused(() => ledger.memory.sweep({ retention: { long: { maxItems: 0 } } }), 'bad_option')
      await assertRefused(() => ledger.memory.sweep({ retention: { long: {} } }), 'bad_option')
      assertEqual([(await ledger.stats()).events, await listed(ledger)], [0, []], 'nothing was written')
      // Events of others in a memory run are passed over when they have no usable names, and never stop a reader.
      await ledger.append([
        {
          eventType: 'execution.memory_written',
          correlationId: memoryRunId(long),
          payload: { namespace: '\u0000', key: 'x' },
        },
        { eventType: 'execution.memory_written', correlationId: memoryRunId(long), payload: { value: 1 } },
        {
          eventType: 'execution.note',
          correlationId: memoryRunId(long),
          payload: { namespace: 'n', key: 'k' },
        },
      ])
      await ledger.memory.put(item)
      assertEqual(await listed(ledger), ['n/k'], 'what has names')
    },
  },
]

/** Memory runs sort by their names: long before session before short. */
const listOrder = (name: string): number =>
  ['n/big', 'n/e', 'n/f', 'n/g', 'n/h', 'n/d', 'n/c', 'n/a', 'n/b'].indexOf(name)
