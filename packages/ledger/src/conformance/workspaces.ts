import type { ClewEvent } from '../event/envelope.ts'
import { assert, assertEqual } from './assert.ts'
import { createRandom } from './random.ts'
import { uuid } from './workload.ts'
import { note, readAll, seqs, started, type StoreTest, upTo } from './world.ts'

const owners = (events: readonly ClewEvent[]): unknown[] => [
  ...new Set(events.map((event) => `${event.ledger.workspace} ${String(event.payload['of'])}`)),
]

export const workspaceTests: readonly StoreTest[] = [
  {
    rule: 'A2',
    title: 'workspaces never mix: the same run, thread, event and cause ids in two of them stay apart',
    async run(world) {
      const [red, blue] = [await world.open({ workspace: 'red' }), await world.open({ workspace: 'blue' })]
      const random = createRandom(8)
      const ids = upTo(6).map(() => uuid(random))
      const list = upTo(1500)
      for (const [ledger, of, count] of [
        [red, 'red', 6],
        [blue, 'blue', 4],
      ] as const) {
        await ledger.record(started('r', { of, threadId: 't', agent: of }))
        for (const [i, eventId] of ids.slice(0, count).entries())
          await ledger.record({ ...note('r', { of, list, i }), eventId, causationId: ids[i - 1] ?? null })
        await ledger.record({
          eventType: 'execution.step_started',
          correlationId: 'r',
          payload: { of, stepId: `${of}#0`, name: of },
        })
        await ledger.record(note(`only-${of}`, { of }))
      }
      for (const [ledger, of, count] of [
        [red, 'red', 6],
        [blue, 'blue', 4],
      ] as const) {
        const mine = [`${of} ${of}`]
        assertEqual(owners(await readAll(ledger, 'r')), mine, 'read')
        assertEqual(seqs(await readAll(ledger, 'r')), upTo(count + 2), 'seq')
        assertEqual((await ledger.getEvent(ids[0] as string))?.payload['of'], of, 'an event by id')
        assertEqual((await ledger.getRun('r'))?.agent, of, 'summary')
        assertEqual(
          (await ledger.getSkeleton('r')).map((step) => step.nodeName),
          [of],
          'skeleton',
        )
        assertEqual(
          (await ledger.getSteps('r')).map((step) => step.nodeName),
          [of],
          'steps',
        )
        assertEqual(
          (await ledger.listRuns()).runs.map((each) => each.runId),
          [`only-${of}`, 'r'],
          'listing',
        )
        assertEqual(owners(await ledger.causes(ids[count - 1] as string)), mine, 'causes')
        const effects = await ledger.effects(ids[0] as string)
        assertEqual([owners(effects), effects.length], [mine, count - 1], 'effects')
        const lines: string[] = []
        for await (const line of ledger.export()) lines.push(line)
        assert(
          lines.every((line) => line.includes(`"workspace":"${of}"`)),
          'export',
        )
        const follower = world.follow(ledger)
        await world.until('followed', () => follower.events.length >= count + 3)
        assertEqual([owners(follower.events), follower.events.length], [mine, count + 3], 'follow')
        const verified = await ledger.verify(undefined, { projections: true })
        assertEqual([verified.ok, verified.checked], [true, count + 3], 'verify')
      }
      assertEqual(await readAll(red, 'only-blue'), [], 'a run of the other')
      const store = await world.openStore()
      assertEqual([...(await store.info('workspaces')).workspaces].toSorted(), ['blue', 'red'], 'workspaces')
      assertEqual(
        (await store.readAll({ afterPosition: 0, limit: 99 })).length,
        16,
        'the whole store by position',
      )
      const third = await world.open({ workspace: 'third' })
      assertEqual(
        [(await third.listRuns()).runs, await third.getEvent(ids[0] as string)],
        [[], null],
        'a third one',
      )
    },
  },
  {
    rule: 'A2',
    title: 'a follower of one workspace is passed by the events of others, in any order',
    async run(world) {
      const [red, blue] = [await world.open({ workspace: 'red' }), await world.open({ workspace: 'blue' })]
      const followers = [world.follow(red), world.follow(blue)]
      for (const n of upTo(60)) await (n % 3 ? red : blue).record(note('r', { n }))
      await world.until('all', () => followers[0]?.events.length === 40 && followers[1]?.events.length === 20)
      for (const [i, follower] of followers.entries())
        assertEqual(
          follower.events.map((event) => event.payload['n']),
          upTo(60).filter((n) => (i === 0 ? n % 3 !== 0 : n % 3 === 0)),
          'events',
        )
    },
  },
]
