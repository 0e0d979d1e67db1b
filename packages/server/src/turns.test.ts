import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTurns } from './turns.ts'

const KB = 1024

/** Sizes of the bodies that were let through in each turn of the event loop. */
async function turnsOf(sizes: readonly number[]): Promise<number[][]> {
  const turns = createTurns()
  const seen: number[][] = [[]]
  const all = Promise.all(sizes.map((bytes) => turns(bytes).then(() => seen.at(-1)?.push(bytes))))
  let isOver = false
  void all.then(() => (isOver = true))
  while (!isOver) {
    await turn()
    seen.push([])
  }
  return seen.filter((each) => each.length > 0)
}

it('A2 small bodies share a turn of the event loop', async () => {
  expect(await turnsOf([1, 1, 1])).toEqual([[1, 1, 1]])
})

it('A2 larger ones are spread over turns, in their order, and none is forgotten', async () => {
  const sizes = Array.from({ length: 20 }, (_, n) => (20 + n) * KB)
  const turns = await turnsOf(sizes)
  expect(turns.flat()).toEqual(sizes)
  // The first turn may have a second share, between the sockets and the next turn.
  expect(turns.length).toBeGreaterThan(8)
})

it('A2 a body without bytes and one that is larger than a turn are let through', async () => {
  expect((await turnsOf([0, 900 * KB, 0])).flat()).toEqual([0, 900 * KB, 0])
})
