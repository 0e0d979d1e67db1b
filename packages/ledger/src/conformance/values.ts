import type { Ledger } from '../ledger.ts'
import { assert, assertEqual } from './assert.ts'
import { createRandom, randomValue } from './random.ts'
import { note, readAll, started, type StoreTest, upTo, type World } from './world.ts'

type Loose = Record<string, unknown>
const messages = (count: number): Loose[] =>
  upTo(count).map((n) => ({
    role: n % 2 ? 'user' : 'assistant',
    content: `message ${n} ${'word '.repeat(30)}`,
    n,
  }))

async function grow(
  ledger: Ledger,
  work: () => Promise<unknown>,
): Promise<{ values: number; bytes: number }> {
  const before = await ledger.stats()
  await work()
  const after = await ledger.stats()
  return { values: after.values - before.values, bytes: after.bytes - before.bytes }
}

/** Stores it, reads it back over a fresh connection, and compares with the order of keys. */
async function assertKept(world: World, payload: Loose, what: string): Promise<void> {
  const event = await (await world.open()).record(note('kept', payload))
  const later = await world.open()
  assertEqual((await later.getEvent(event.eventId))?.payload, payload, what)
}

export const valueTests: readonly StoreTest[] = [
  {
    rule: 'L8',
    title: 'a growing list of messages costs what was added, and reads back whole at every length',
    async run(world) {
      const ledger = await world.open()
      const all = messages(300)
      await ledger.record(note('r', { prompt: all.slice(0, 200) }))
      const grown = await grow(ledger, async () => {
        for (const n of upTo(300, 201)) await ledger.record(note('r', { prompt: all.slice(0, n), n }))
      })
      // Each step changes a leaf and the path above it; the whole list would be hundreds of values.
      assert(grown.values <= 100 * 5, `100 steps added ${grown.values} values`)
      const later = await world.open()
      for (const event of await readAll(later, 'r')) {
        const { n = 200 } = event.payload
        assertEqual(event.payload['prompt'], all.slice(0, Number(n)), `the list of ${String(n)}`)
      }
    },
  },
  {
    rule: 'L8',
    title: 'a value sent again costs no value; shared within a thread, never wider',
    async run(world) {
      const ledger = await world.open()
      const other = await world.open({ workspace: 'other' })
      const payload = { prompt: messages(100) }
      const cost = async (to: Ledger, runId: string): Promise<number> =>
        (await grow(ledger, () => to.record(note(runId, payload)))).values
      await ledger.append([
        started('a', { threadId: 't' }),
        started('b', { threadId: 't' }),
        started('c', { threadId: 'u' }),
      ])
      await ledger.append([started('d'), started('e')])
      await other.record(started('a', { threadId: 't' }))
      const first = await cost(ledger, 'a')
      assert(first > 5, `the first costs ${first} values`)
      assertEqual(await cost(ledger, 'a'), 0, 'again in the run')
      assertEqual(await cost(ledger, 'b'), 0, 'in another run of the thread')
      assertEqual(await cost(await world.open(), 'b'), 0, 'from another connection')
      assertEqual(await cost(ledger, 'c'), first, 'in another thread')
      assertEqual(await cost(ledger, 'd'), first, 'in a run without a thread')
      assertEqual(await cost(ledger, 'e'), first, 'in another run without a thread')
      assertEqual(await cost(other, 'a'), first, 'in another workspace')
      await ledger.record({
        eventType: 'system.workflow_forked',
        correlationId: 'f',
        payload: { sourceRunId: 'a', sourceSeq: 2 },
      })
      assertEqual(await cost(ledger, 'f'), 0, 'in a fork, which is of the same thread')
      assert((await ledger.verify()).ok, 'it verifies')
    },
  },
  {
    rule: 'L8',
    title: 'one key of 10,000 changed, or the head of a list removed, costs a path and not the whole',
    async run(world) {
      const ledger = await world.open()
      const state = Object.fromEntries(upTo(10_000).map((n) => [`key-${n}`, { n, text: `value ${n}` }]))
      const list = messages(1000)
      const whole = await grow(ledger, () => ledger.record(note('r', { state, list })))
      const oneKey = { ...state, 'key-5000': { n: -1, text: 'changed' } }
      const changed = await grow(ledger, () => ledger.record(note('r', { state: oneKey, list })))
      assert(changed.values * 20 < whole.values, `one key cost ${changed.values} of ${whole.values} values`)
      const headless = await grow(ledger, () =>
        ledger.record(note('r', { state: oneKey, list: list.slice(1) })),
      )
      assert(
        headless.values * 10 < whole.values,
        `the head cost ${headless.values} of ${whole.values} values`,
      )
      const [first, second, third] = await readAll(await world.open(), 'r')
      assertEqual(first?.payload, { state, list }, 'the first')
      assertEqual(second?.payload, { state: oneKey, list }, 'the second')
      assertEqual(third?.payload, { state: oneKey, list: list.slice(1) }, 'the third')
    },
  },
  {
    rule: 'L8',
    title: 'large strings, 5 MB payloads, strange keys and broken surrogates read back as they were',
    async run(world) {
      const random = createRandom(3)
      await assertKept(world, { text: random.text(300_000), after: 1 }, 'a large string')
      await assertKept(world, { pages: upTo(50).map((n) => `${n}${'p'.repeat(100_000)}`) }, '5 MB')
      await assertKept(
        world,
        { text: `${'a'.repeat(4095)}𝄞${'b'.repeat(4095)}\ud800 and \udc00x` },
        'surrogates',
      )
      await assertKept(
        world,
        { '\ud800': 1, '': 2, ' ': 3, 'a\nb': 4, '"': 5, '=': 6, '#1': 7, '\\': 8 },
        'keys',
      )
      const wide = Object.fromEntries(
        upTo(600).map((n) => [`k${(n * 7919) % 600}`, `v ${n} ${'x'.repeat(9)}`]),
      )
      await assertKept(world, { 10: 'ten', 2: 'two', b: 1, a: 2, wide }, 'integer-like keys and key order')
      const proto = JSON.parse('{"__proto__":{"x":1},"constructor":2,"toString":3}') as Loose
      await assertKept(world, proto, '__proto__')
      await assertKept(world, { ...wide, inner: proto, text: 'x'.repeat(3000) }, '__proto__ in a tree')
      assert((Reflect.get({}, 'x') as unknown) === undefined, 'no prototype was touched')
      await assertKept(
        world,
        { text: '\u0000\u0001\u2028\u2029\u007f', nul: 'a\u0000'.repeat(2000) },
        'control characters',
      )
      await assertKept(
        world,
        { empty: {}, none: [], nothing: null, list: [[], {}, '', 0, false] },
        'empty values',
      )
      assert((await (await world.open()).verify(undefined, { projections: true })).ok, 'it verifies')
    },
  },
  ...[1, 2, 3, 4].map(
    (seed): StoreTest => ({
      rule: 'L8',
      title: `any JSON value reads back deep-equal with its keys in order (seed ${seed})`,
      async run(world) {
        const random = createRandom(seed * 1000)
        const ledger = await world.open()
        const payloads = upTo(40).map((): Loose => ({ value: randomValue(random) }))
        // Half of them are variations of the ones before, as states are.
        const varied = payloads.map((payload, i) => (i % 2 ? { ...payloads[i - 1], ...payload } : payload))
        const answers = await ledger.append(varied.map((payload) => note('r', payload)))
        const read = await readAll(await world.open(), 'r')
        for (const [i, payload] of varied.entries()) {
          assertEqual(answers[i]?.payload, payload, `answer ${i}`)
          assertEqual(read[i]?.payload, payload, `event ${i}`)
        }
        const { ok, problems } = await ledger.verify('r')
        assert(ok, JSON.stringify(problems))
      },
    }),
  ),
]
