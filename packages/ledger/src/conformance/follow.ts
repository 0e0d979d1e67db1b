import { assert, assertEqual } from './assert.ts'
import { createRandom } from './random.ts'
import { forked, note, seqs, type StoreTest, upTo, createAbort } from './world.ts'

const numbers = (events: readonly { payload: Record<string, unknown> }[]): unknown[] =>
  events.map((event) => event.payload['n'])

export const followTests: readonly StoreTest[] = [
  {
    rule: 'L7',
    title: 'history, then live, without a gap or a repeat, for several followers on two connections',
    async run(world) {
      const [writer, other] = [await world.open(), await world.open()]
      await writer.append(upTo(1100).map((n) => note(`run-${n % 3}`, { n })))
      const followers = [world.follow(writer), world.follow(other), world.follow(other)]
      // Writes begin while the followers are still in history, from both sides.
      for (const n of upTo(1400, 1101)) {
        await (n % 5 === 0 ? other : writer).record(note(`run-${n % 3}`, { n }))
        if (n === 1200) followers.push(world.follow(writer), world.follow(other))
      }
      for (const follower of followers) {
        await world.until(
          `a follower has 1400 events, it has ${follower.events.length}`,
          () => follower.events.length >= 1400,
        )
        assertEqual(numbers(follower.events), upTo(1400), 'events in order')
      }
    },
  },
  {
    rule: 'L7',
    title: 'a follower misses nothing while many append at once',
    async run(world) {
      const ledgers = [await world.open(), await world.open()]
      const followers = ledgers.map((ledger) => world.follow(ledger))
      const random = createRandom(21)
      await Promise.all(
        upTo(400).map(async (n) => {
          await world.ports.sleep(random.below(40))
          await random.pick(ledgers).append([note(`run-${n % 9}`, { n }), note('all', { n })])
        }),
      )
      for (const { events } of followers) {
        await world.until(`800 events are followed, ${events.length} were`, () => events.length >= 800)
        const positions = events.map((event) => event.ledger.position)
        assertEqual(
          positions,
          positions.toSorted((a, b) => a - b),
          'by position',
        )
        assertEqual(new Set(events.map((event) => event.eventId)).size, 800, 'each once')
        assertEqual(
          seqs(events.filter((event) => event.correlationId === 'all')),
          upTo(400),
          'one run, dense',
        )
      }
    },
  },
  {
    rule: 'L7',
    title: 'by run, by types and after a position, also for a run that does not exist yet',
    async run(world) {
      const ledger = await world.open()
      const early = world.follow(ledger, { runId: 'later' })
      const [, second] = await ledger.append([note('r', { n: 1 }), note('r', { n: 2 })])
      const afterPosition = second?.ledger.position ?? 0
      const byRun = world.follow(ledger, { runId: 'r' })
      const byType = world.follow(ledger, { types: ['ui.click'] })
      const runAndType = world.follow(ledger, { runId: 'r', types: ['ui.click'] })
      const after = world.follow(ledger, { afterPosition })
      const runAfter = world.follow(ledger, { runId: 'r', afterPosition })
      for (const n of upTo(12, 3)) {
        await ledger.record(note('later', { n }))
        await ledger.append([{ ...note('r', { n }), eventType: n % 5 === 0 ? 'ui.click' : 'execution.n' }])
      }
      await ledger.append([{ ...note('end', { n: 99 }), eventType: 'ui.click' }])
      await world.until('all have arrived', () => after.events.length >= 21 && byType.events.length >= 3)
      await world.until('runs have arrived', () => byRun.events.length >= 12 && early.events.length >= 10)
      await world.until('the others too', () => runAfter.events.length >= 10 && runAndType.events.length >= 2)
      assertEqual(numbers(byRun.events), upTo(12), 'by run')
      assertEqual(numbers(early.events), upTo(12, 3), 'a run that came later')
      assertEqual(numbers(byType.events), [5, 10, 99], 'by type')
      assertEqual(numbers(runAndType.events), [5, 10], 'by run and type')
      assertEqual(numbers(runAfter.events), upTo(12, 3), 'by run after a position')
      assertEqual(after.events.length, 21, 'after a position')
    },
  },
  {
    rule: 'L7',
    title: 'a fork is followed through its shared prefix into its own events',
    async run(world) {
      const ledger = await world.open()
      await ledger.append(upTo(4).map((n) => note('source', { n })))
      await ledger.append([forked('fork', 'source', 3), note('fork', { n: 'own' })])
      const follower = world.follow(ledger, { runId: 'fork' })
      await world.until('history', () => follower.events.length >= 5)
      await ledger.append([note('source', { n: 5 }), note('fork', { n: 'live' })])
      await world.until('live', () => follower.events.length >= 6)
      assertEqual(seqs(follower.events), upTo(6), 'seq')
      assertEqual(numbers(follower.events), [1, 2, 3, undefined, 'own', 'live'], 'events')
    },
  },
  {
    rule: 'L7',
    title: 'a slow follower slows no writer and loses nothing',
    async run(world) {
      const ledger = await world.open()
      const slow = ledger.follow()
      await ledger.record(note('r', { n: 1 }))
      const first = await slow.next()
      // The follower holds its first event while a thousand others are written.
      for (const batch of upTo(10))
        await ledger.append(upTo(100).map((i) => note('r', { n: (batch - 1) * 100 + i + 1 })))
      const seen = [first.value?.payload['n']]
      while (seen.length < 1001) seen.push((await slow.next()).value?.payload['n'])
      assertEqual(seen, upTo(1001), 'events')
      await slow.return(undefined)
    },
  },
  {
    rule: 'L7',
    title: 'ends by abort, by leaving the loop and by closing the ledger, and never with an error',
    async run(world) {
      const ledger = await world.open()
      await ledger.append(upTo(3).map((n) => note('r', { n })))
      const aborted = world.follow(ledger)
      await world.until('history', () => aborted.events.length === 3)
      aborted.abort()
      await aborted.ended
      const before = createAbort()
      before.abort()
      const none = await ledger.follow({ signal: before.signal }).next()
      assertEqual(none.done, true, 'aborted before it began')
      for await (const event of ledger.follow()) if (event.ledger.seq === 2) break
      const open = [
        world.follow(ledger),
        world.follow(ledger, { runId: 'r' }),
        world.follow(ledger, { runId: 'x' }),
      ]
      await world.until('history', () => open[0]?.events.length === 3)
      await ledger.record(note('r', { n: 4 }))
      await world.until('live', () => open[0]?.events.length === 4 && open[1]?.events.length === 4)
      assertEqual(aborted.events.length, 3, 'nothing after the abort')
      await ledger.close()
      for (const follower of open) {
        await follower.ended
        assertEqual(follower.error(), undefined, 'error')
      }
    },
  },
  {
    rule: 'L7',
    title: 'a follower or a watcher that throws harms neither the writer nor the others',
    async run(world) {
      const store = await world.openStore()
      const ledger = await world.open({}, { ...store, close: async () => {} })
      const unwatch = store.watch(() => {
        throw new Error('a broken watcher')
      })
      let rings = 0
      store.watch(() => void rings++)
      const good = world.follow(ledger)
      const broken = async (): Promise<void> => {
        for await (const event of ledger.follow())
          if (event.ledger.seq === 2) throw new Error('a broken follower')
      }
      const failed = broken().catch((error: Error) => error.message)
      for (const n of upTo(5))
        assertEqual((await ledger.record(note('r', { n }))).ledger.seq, n, 'acknowledged')
      await world.until('the others see all', () => good.events.length === 5 && rings > 0)
      assertEqual(await failed, 'a broken follower', 'its own error')
      unwatch()
    },
  },
  {
    rule: 'L7',
    title: 'a watcher is woken by its own and by another connection until it is removed',
    async run(world) {
      const [near, far] = [await world.openStore(), await world.openStore()]
      const ledger = await world.open({}, { ...near, close: async () => {} })
      let [nearRings, farRings, removed] = [0, 0, 0]
      near.watch(() => void nearRings++)
      far.watch(() => void farRings++)
      far.watch(() => void removed++)()
      for (const n of upTo(3)) {
        const before = [nearRings, farRings] as const
        await ledger.record(note('r', { n }))
        await world.until('both are woken', () => nearRings > before[0] && farRings > before[1])
      }
      assert(removed === 0, 'a removed watcher sleeps')
    },
  },
]
