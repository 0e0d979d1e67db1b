import type { Codec } from '../event/codecs.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { note, readAll, started, type StoreTest, upTo } from './world.ts'

interface UrlHost {
  URL: new (href: string) => { readonly href: string }
}
const url = (href: string): unknown => new (globalThis as unknown as UrlHost).URL(href)

const rich = (): Record<string, unknown> => ({
  date: new Date('2026-11-15T07:17:00.123Z'),
  noDate: new Date(Number.NaN),
  map: new Map<unknown, unknown>([
    ['a', 1],
    [{ key: 'object' }, new Map([[1, new Date(0)]])],
  ]),
  set: new Set([1, 'one', [1], new Set()]),
  big: 2n ** 80n,
  negative: -5n,
  numbers: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0],
  bytes: new Uint8Array([0, 1, 127, 128, 255]),
  noBytes: new Uint8Array(0),
  longBytes: new Uint8Array(5000).map((_, i) => i % 251),
  url: url('https://example.com/a?b=c#d'),
  pattern: /a+\/"\n/giu,
  inList: [undefined, new Date(1), null],
  looksTagged: { $clew: 'date', value: 'not one' },
  deeper: { list: [{ $clew: 'x' }, { at: new Date(2) }] },
})

class Point {
  readonly x: number
  readonly y: number
  constructor(x: number, y: number) {
    this.x = x
    this.y = y
  }
}
const pointCodec: Codec = {
  tag: 'point',
  matches: (value) => value instanceof Point,
  encode: (value) => [(value as Point).x, (value as Point).y],
  decode: (data) => new Point(...(data as [number, number])),
}

export const richValueTests: readonly StoreTest[] = [
  {
    rule: 'L8',
    title: 'values that JSON lacks come back as what they were, small and in trees',
    async run(world) {
      const ledger = await world.open()
      const large = { ...rich(), many: upTo(400).map((n) => ({ at: new Date(n), n: BigInt(n) })) }
      const events = await ledger.append([note('r', rich()), note('r', large)])
      assertEqual(events[0]?.payload, rich(), 'the answer')
      const read = await readAll(await world.open(), 'r')
      assertEqual(read[0]?.payload, rich(), 'small')
      assertEqual(read[1]?.payload, large, 'large')
      const { ledger: place, ...envelope } = read[1] as (typeof read)[0]
      assertEqual(
        (await ledger.append([envelope]))[0]?.ledger,
        place,
        'read back and sent again it is the same',
      )
    },
  },
  {
    rule: 'L8',
    title: 'errors keep name, message, code and cause',
    async run(world) {
      const ledger = await world.open()
      const cause = Object.assign(new TypeError('inner'), { code: 'E_INNER' })
      await ledger.record(note('r', { error: new Error('outer', { cause }) }))
      const [event] = await readAll(ledger, 'r')
      const error = event?.payload['error'] as Error
      assert(error instanceof Error && error.cause instanceof Error, 'errors')
      assertEqual(
        [error.message, error.cause.name, error.cause.message],
        ['outer', 'TypeError', 'inner'],
        'texts',
      )
      assertEqual(Reflect.get(error.cause, 'code'), 'E_INNER', 'code')
    },
  },
  {
    rule: 'L8',
    title: 'rich values are shared like any others',
    async run(world) {
      const ledger = await world.open()
      await ledger.record(started('r', { threadId: 't' }))
      const payload = { many: new Map(upTo(500).map((n) => [`key ${n}`, new Date(n)])) }
      await ledger.record(note('r', payload))
      const { values } = await ledger.stats()
      assert(values > 3, 'it is kept as a tree')
      await ledger.record(note('r', payload))
      assertEqual((await ledger.stats()).values, values, 'values after the second')
    },
  },
  {
    rule: 'L8',
    title: 'an own codec carries an own class; without it the tagged JSON loses nothing',
    async run(world) {
      const ledger = await world.open({ codecs: [pointCodec] })
      const payload = { at: new Point(1, 2), path: upTo(300).map((n) => new Point(n, -n)) }
      const event = await ledger.record(note('r', payload))
      const read = (await ledger.getEvent(event.eventId))?.payload as typeof payload
      assert(read.at instanceof Point && read.path[299] instanceof Point, 'points')
      assertEqual(read, payload, 'payload')
      const plain = await world.open()
      await assertRefused(() => plain.record(note('r', payload)), 'bad_value', { path: '$.at' })
      const without = (await plain.getEvent(event.eventId))?.payload
      assertEqual(without?.['at'], { $clew: 'point', value: [1, 2] }, 'tagged')
      await assertRefused(() => world.open({ codecs: [pointCodec, pointCodec] }), 'bad_option')
    },
  },
  {
    rule: 'L8',
    title: 'what is read is frozen where it is shared: one reader cannot change what another sees',
    async run(world) {
      const ledger = await world.open()
      const payload = { list: upTo(1000).map((n) => ({ n, text: `text ${n}` })) }
      await ledger.append([note('r', payload), note('r', { ...payload, more: 1 })])
      const [first] = await readAll(ledger, 'r')
      try {
        Reflect.set((first?.payload['list'] as object[] | undefined)?.[0] ?? {}, 'n', -1)
      } catch {
        // Frozen: that is one way to keep the promise.
      }
      const [, second] = await readAll(ledger, 'r')
      assertEqual(second?.payload, { ...payload, more: 1 }, 'the other event')
    },
  },
]
