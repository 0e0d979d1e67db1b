import type { ClewEvent } from '../event/envelope.ts'
import { assertEqual } from './assert.ts'
import { createRandom } from './random.ts'
import { uuid } from './workload.ts'
import { note, readAll, type StoreTest, upTo } from './world.ts'

const names = (events: readonly ClewEvent[]): unknown[] => events.map((event) => event.payload['name'])
const ids = (seed: number): ((name: string) => string) => {
  const random = createRandom(seed)
  const made = new Map<string, string>()
  return (name) => made.get(name) ?? made.set(name, uuid(random)).get(name) ?? ''
}

export const causeTests: readonly StoreTest[] = [
  {
    rule: 'L9',
    title: 'causes and effects across runs, nearest first and breadth first',
    async run(world) {
      const ledger = await world.open()
      const id = ids(1)
      const add = (name: string, cause: string | null, runId: string) =>
        ledger.record({ ...note(runId, { name }), eventId: id(name), causationId: cause && id(cause) })
      await add('a', null, 'one')
      await add('b', 'a', 'two')
      await add('c', 'a', 'one')
      await add('d', 'c', 'three')
      await add('e', 'b', 'one')
      await add('f', 'd', 'two')
      const later = await world.open()
      assertEqual(names(await later.causes(id('f'))), ['d', 'c', 'a'], 'causes of f')
      assertEqual(
        names(await later.effects(id('a'))),
        ['b', 'c', 'd', 'e', 'f'],
        'effects of a, each wave in order',
      )
      assertEqual(names(await later.effects(id('c'))), ['d', 'f'], 'effects of c')
      assertEqual(await later.causes(id('a')), [], 'no cause')
      assertEqual(await later.effects(id('f')), [], 'no effect')
      assertEqual([await later.causes(id('x')), await later.effects(id('x'))], [[], []], 'an unknown event')
      assertEqual(await later.getEvent(id('x')), null, 'an unknown event by id')
    },
  },
  {
    rule: 'L9',
    title: 'an event whose cause has not arrived is accepted, and linked when it does',
    async run(world) {
      const ledger = await world.open()
      const id = ids(2)
      await ledger.record({
        ...note('r', { name: 'effect' }),
        eventId: id('effect'),
        causationId: id('cause'),
      })
      assertEqual(await ledger.causes(id('effect')), [], 'not there yet')
      assertEqual(names(await ledger.effects(id('cause'))), ['effect'], 'known by its cause already')
      await ledger.record({ ...note('q', { name: 'cause' }), eventId: id('cause'), causationId: null })
      assertEqual(names(await ledger.causes(id('effect'))), ['cause'], 'linked')
    },
  },
  {
    rule: 'L9',
    title: 'cycles end, also an event that names itself',
    async run(world) {
      const ledger = await world.open()
      const id = ids(3)
      const ring = ['a', 'b', 'c']
      for (const [i, name] of ring.entries())
        await ledger.record({
          ...note('r', { name }),
          eventId: id(name),
          causationId: id(ring[(i + 1) % 3] as string),
        })
      await ledger.record({ ...note('r', { name: 'self' }), eventId: id('self'), causationId: id('self') })
      assertEqual(names(await ledger.causes(id('a'))), ['b', 'c'], 'causes')
      assertEqual(names(await ledger.effects(id('a'))), ['c', 'b'], 'effects')
      assertEqual([await ledger.causes(id('self')), await ledger.effects(id('self'))], [[], []], 'itself')
    },
  },
  {
    rule: 'L9',
    title: 'the cause comes from the async context, right under concurrency',
    async run(world) {
      const ledger = await world.open()
      const tops = await ledger.append(upTo(10).map((n) => note('r', { n, depth: 0 })))
      await Promise.all(
        tops.map((top) =>
          ledger.causedBy(top, async () => {
            for (const depth of upTo(5)) {
              await world.ports.sleep(Number(top.payload['n']) % 3)
              const [event] = await ledger.append([note('r', { n: top.payload['n'], depth })])
              // One level deeper, and back.
              await ledger.causedBy(event as ClewEvent, async () => {
                await world.ports.sleep(1)
                await ledger.record(note('below', { n: top.payload['n'], depth }))
              })
            }
          }),
        ),
      )
      const events = await readAll(ledger, 'r')
      const byId = new Map(events.map((event) => [event.eventId, event]))
      for (const event of events.slice(10)) {
        const cause = byId.get(event.causationId ?? '')
        assertEqual(
          [cause?.payload['n'], cause?.payload['depth']],
          [event.payload['n'], 0],
          'the top of its own line',
        )
      }
      for (const event of await readAll(ledger, 'below')) {
        const { n, depth } = byId.get(event.causationId ?? '')?.payload ?? {}
        assertEqual([n, depth], [event.payload['n'], event.payload['depth']], 'the event around it')
      }
      await ledger.causedBy(tops[0] as ClewEvent, () => ledger.record({ ...note('free'), causationId: null }))
      assertEqual((await readAll(ledger, 'free'))[0]?.causationId, null, 'null says: no cause')
      assertEqual((await ledger.record(note('free'))).causationId, null, 'outside of any context')
      const top = tops[0] as ClewEvent
      const around = await ledger.causedBy(top, async () => {
        await world.ports.sleep(1)
        return ledger.currentCause()
      })
      assertEqual([around, ledger.currentCause()], [top.eventId, undefined], 'the cause that is asked for')
    },
  },
  {
    rule: 'L9',
    title: 'a chain of 600 causes is walked whole, both ways',
    async run(world) {
      const ledger = await world.open()
      const random = createRandom(5)
      const chain = upTo(600).map(() => uuid(random))
      await ledger.append(
        chain.map((eventId, i) => ({
          ...note('r', { i }),
          eventId,
          causationId: i === 0 ? null : (chain[i - 1] ?? null),
        })),
      )
      assertEqual((await ledger.causes(chain[599] as string)).length, 599, 'causes')
      assertEqual((await ledger.effects(chain[0] as string)).length, 599, 'effects')
    },
  },
]
