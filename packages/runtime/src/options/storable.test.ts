import { describe, expect, it } from 'vitest'
import type { Run } from '../index.ts'
import type { IfStorable } from './storable.ts'

/** What the compiler must take and must refuse; a line that expects an error fails the type check without one. */
const calls = (run: Run, url: string, given: { parse(): string }): (() => unknown)[] => [
  () => run.effect('json', url, async (address): Promise<unknown> => (await fetch(address)).json()),
  () => run.effect('values', url, () => ({ at: new Date(), found: new Map([['a', 1]]), none: undefined })),
  () => run.effect('nothing', url, () => {}),
  () => run.step('list', url, () => [{ a: 1 }, { b: [2] }]),
  // An instance of a class may have a codec.
  () => run.effect('instance', url, () => given),
  // @ts-expect-error -- a response belongs to this process: its body has to be read
  () => run.effect('response', url, (address) => fetch(address)),
  // @ts-expect-error -- a function
  () => run.step('function', url, () => () => 1),
  // @ts-expect-error -- a promise inside of the result
  () => run.effect('promise', url, () => ({ later: Promise.resolve(1) })),
  // @ts-expect-error -- streams in a list
  () => run.effect('streams', url, () => [new ReadableStream()]),
  // @ts-expect-error -- a symbol
  () => run.step('symbol', url, () => ({ id: Symbol('a') })),
]

/** Code that is generic in the result passes the check on. */
const timed = <T>(run: Run, fn: (() => Promise<T>) & IfStorable<T>): Promise<T> =>
  run.effect('timed', null, fn)

describe('R2 results of steps and effects that cannot be stored', () => {
  it('do not compile, where TypeScript can tell', () => {
    expect([calls, timed]).toHaveLength(2)
  })
})
