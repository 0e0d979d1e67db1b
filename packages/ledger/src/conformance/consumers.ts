import { type Cursor, putCursor, readCursors } from '../store/cursors.ts'
import type { ClewEvent } from '../event/envelope.ts'
import type { Ledger } from '../ledger.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { createAbort, note, type StoreTest, upTo, type World } from './world.ts'

const nOf = (event: ClewEvent): unknown => event.payload['n']
const STALE_MS = 60_000

/** Answers with the positions that the events got. */
async function fill(ledger: Ledger, count: number, from = 1): Promise<number[]> {
  const positions: number[] = []
  for (const n of upTo(from + count - 1, from))
    positions.push((await ledger.record(note(`r${n % 3}`, { n }))).ledger.position)
  return positions
}

interface Consuming {
  readonly seen: unknown[]
  readonly sizes: number[]
  readonly ended: Promise<void>
  abort(): void
}

/** Consumes until it is aborted; `fail` throws for those batches that it wants to see again. */
function start(
  ledger: Ledger,
  name: string,
  { batch = 10, from, fail }: { batch?: number; from?: number | 'now'; fail?: (batch: number) => void } = {},
): Consuming {
  const control = createAbort()
  const seen: unknown[] = []
  const sizes: number[] = []
  const ended = ledger.consume(
    name,
    (events) => {
      sizes.push(events.length)
      fail?.(sizes.length)
      seen.push(...events.map(nOf))
    },
    { batch, from, signal: control.signal },
  )
  return { seen, sizes, ended, abort: () => control.abort() }
}

async function stateOf(ledger: Ledger, name: string) {
  return (await ledger.consumers()).find((consumer) => consumer.name === name)
}

async function drain(world: World, ledger: Ledger, name: string, count: number): Promise<unknown[]> {
  const consuming = start(ledger, name)
  await world.until(`${name} saw ${count}`, () => consuming.seen.length >= count)
  consuming.abort()
  await consuming.ended
  return consuming.seen
}

export const consumerTests: readonly StoreTest[] = [
  {
    rule: 'V9',
    title: 'a consumer gets all events in order, history then live, and goes on where it was',
    async run(world) {
      const ledger = await world.open()
      await fill(ledger, 25)
      const first = start(ledger, 'stats')
      await world.until('the history came', () => first.seen.length === 25)
      await fill(ledger, 5, 26)
      await world.until('the news came', () => first.seen.length === 30)
      first.abort()
      await first.ended
      assertEqual(first.seen, upTo(30), 'order')
      assert(
        first.sizes.every((size) => size <= 10),
        'batches are no longer than asked for',
      )
      assertEqual((await stateOf(ledger, 'stats'))?.lag, 0, 'lag')
      await world.closeAll()
      const later = await world.open()
      await fill(later, 4, 31)
      assertEqual((await stateOf(later, 'stats'))?.lag, 4, 'lag of one that does not work')
      assertEqual(await drain(world, later, 'stats', 4), upTo(34, 31), 'after a restart')
      assertEqual(await drain(world, later, 'other', 34), upTo(34), 'another name begins at the first event')
    },
  },
  {
    rule: 'V9',
    title: 'the cursor moves when the handler resolved; what failed comes again and is told',
    async run(world) {
      const ledger = await world.open()
      await fill(ledger, 20)
      let isBroken = true
      const failing = start(ledger, 'fragile', {
        fail(batch) {
          if (batch >= 2 && isBroken) throw new Error('no luck with sk-4f9a21c07be8d35e1234567890')
        },
      })
      await world.until(
        'the failure was told',
        async () => ((await stateOf(ledger, 'fragile'))?.failures ?? 0) > 0,
      )
      const told = await stateOf(ledger, 'fragile')
      const said = told?.lastError ?? ''
      assert(said.includes('no luck'), `the error: ${said}`)
      assert(!said.includes('sk-4f9a'), 'the error is redacted')
      assertEqual([told?.lag, failing.seen], [10, upTo(10)], 'what was done before')
      isBroken = false
      await fill(ledger, 1, 21)
      await world.until('it came again', () => failing.seen.length === 21)
      assertEqual(failing.seen, upTo(21), 'all events')
      failing.abort()
      await failing.ended
      const after = await stateOf(ledger, 'fragile')
      assertEqual([after?.failures, after?.lastError], [0, null], 'forgotten when it moved on')
    },
  },
  {
    rule: 'V9',
    title: 'a consumer that fails or hangs holds up neither others nor writers',
    async run(world) {
      const ledger = await world.open()
      await fill(ledger, 5)
      const hanging = Promise.withResolvers<void>()
      const stop = createAbort()
      const hung = ledger.consume('hangs', () => hanging.promise, { signal: stop.signal })
      const failing = start(ledger, 'fails', {
        fail() {
          throw new Error('never')
        },
      })
      assertEqual(await drain(world, ledger, 'works', 5), upTo(5), 'the one that works')
      await fill(ledger, 1, 6)
      failing.abort()
      stop.abort()
      hanging.resolve()
      await Promise.all([failing.ended, hung])
      assertEqual(failing.seen, [], 'what the failing one did')
    },
  },
  {
    rule: 'V9',
    title: 'one works under a name at a time; a second takes over when the first ends',
    async run(world) {
      const [one, two] = [await world.open(), await world.open()]
      await fill(one, 3)
      const first = start(one, 'shared')
      await world.until('the first works', () => first.seen.length === 3)
      assertEqual((await stateOf(two, 'shared'))?.isWorking, true, 'seen by the other')
      const second = start(two, 'shared')
      await fill(two, 3, 4)
      await world.until('the first goes on', () => first.seen.length === 6)
      assertEqual(second.seen, [], 'the second waits')
      assertEqual(await one.leases.list(), [], 'no claim among the leases of runs')
      first.abort()
      await first.ended
      await fill(one, 3, 7)
      await world.until('the second took over', () => second.seen.length === 3)
      assertEqual(second.seen, upTo(9, 7), 'what the second saw')
      second.abort()
      await second.ended
      assertEqual((await stateOf(one, 'shared'))?.isWorking, false, 'nobody works')
    },
  },
  {
    rule: 'V9',
    title: 'a cursor is written by compare-and-set, also when its position is the same again',
    async run(world) {
      const store = await world.openStore()
      const cursor = {
        name: 'n',
        position: 5,
        failures: 0,
        error: null,
        movedAt: new Date(0).toISOString(),
      }
      const put = (each: Cursor, version: number) => putCursor(store.slots, 'w', each, version)
      const first = await put(cursor, 0)
      assertEqual(first, { ...cursor, version: 1 }, 'made')
      assertEqual(await put(cursor, 0), null, 'made twice')
      const second = await put({ ...cursor, position: 9 }, 1)
      const third = await put({ ...cursor, position: 5, error: 'e', failures: 2 }, 2)
      assertEqual([second?.version, third?.version], [2, 3], 'moved')
      assertEqual(await put({ ...cursor, position: 7 }, 1), null, 'an older version')
      assertEqual(await readCursors(store.slots, 'w'), [third], 'what is there')
      assertEqual(await readCursors(store.slots, 'other'), [], 'another workspace')
      const tries = await Promise.all(upTo(8).map(() => put({ ...cursor, position: 6 }, 3)))
      assertEqual(tries.filter((each) => each !== null).length, 1, 'of many at once')
      assertEqual((await store.slots.list('w', 'consumer/m')).length, 0, 'by the beginning of the name')
    },
  },
  {
    rule: 'V9',
    title: 'a reset takes effect on a consumer at work; workspaces and starting points are kept apart',
    async run(world) {
      const ledger = await world.open()
      const elsewhere = await world.open({ workspace: 'elsewhere' })
      const positions = await fill(ledger, 6)
      await elsewhere.record(note('x', { n: 'elsewhere' }))
      const working = start(ledger, 'again')
      await world.until('all came', () => working.seen.length === 6)
      await world.until('the cursor moved', async () => (await stateOf(ledger, 'again'))?.lag === 0)
      await ledger.resetConsumer('again', positions[3] as number)
      await world.until('they came again', () => working.seen.length === 8)
      assertEqual(working.seen, [...upTo(6), 5, 6], 'what came')
      working.abort()
      await working.ended
      await assertRefused(() => ledger.resetConsumer('nobody', 0), 'not_found', { consumer: 'nobody' })
      await assertRefused(() => ledger.resetConsumer('again', -1), 'bad_option', { option: 'position' })
      await assertRefused(() => ledger.consume('a name', () => {}), 'bad_option', { option: 'name' })
      assertEqual(await elsewhere.consumers(), [], 'consumers of another workspace')
      const late = start(ledger, 'late', { from: 'now' })
      await world.until('it is known', async () => (await stateOf(ledger, 'late')) !== undefined)
      await fill(ledger, 1, 7)
      await world.until('the news came', () => late.seen.length === 1)
      assertEqual(late.seen, [7], 'from now on')
      late.abort()
      await late.ended
    },
  },
  {
    rule: 'V9',
    title: 'a silent worker loses its name after 60 s, and two never move the cursor back',
    async run(world) {
      const [one, two] = [await world.open(), await world.open()]
      const positions = await fill(one, 3)
      const hanging = Promise.withResolvers<void>()
      const stop = createAbort()
      const silent = one.consume('n', () => hanging.promise, { signal: stop.signal, batch: 2 })
      await world.until('the first works', async () => (await stateOf(two, 'n'))?.isWorking === true)
      world.turnClock(STALE_MS + 1000)
      assertEqual(await drain(world, two, 'n', 3), upTo(3), 'the second saw')
      stop.abort()
      hanging.resolve()
      await silent
      assertEqual((await stateOf(two, 'n'))?.position, positions[2], 'the cursor')
    },
  },
]
