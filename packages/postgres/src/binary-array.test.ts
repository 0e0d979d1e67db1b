import { expect, it } from 'vitest'
import { arrayOf, hexes, int8s, texts } from './binary-array.ts'

/** The elements of an array in the form that the server reads. */
function elements(array: Buffer): (Buffer | null)[] {
  const dimensions = array.readInt32BE(0)
  if (dimensions === 0) return []
  const found: (Buffer | null)[] = []
  let at = 20
  while (at < array.length) {
    const size = array.readInt32BE(at)
    found.push(size < 0 ? null : array.subarray(at + 4, at + 4 + size))
    at += 4 + Math.max(size, 0)
  }
  expect(array.readInt32BE(12)).toBe(found.length)
  return found
}

it('L8 arrays hold what they were given: safe integers, texts of any length, bytes, nulls and nothing', () => {
  const numbers = [
    0,
    1,
    -1,
    2 ** 31,
    -(2 ** 31) - 1,
    2 ** 32,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    null,
  ]
  const read = elements(int8s(numbers)).map((each) => (each === null ? null : Number(each.readBigInt64BE(0))))
  expect(read).toEqual(numbers)
  const strings = ['', 'a', '漢😀', null, 'x'.repeat(300_000), 'after']
  expect(elements(texts(strings)).map((each) => each?.toString() ?? null)).toEqual(strings)
  const bytes = ['', '00ff', 'ab'.repeat(100_000), null]
  expect(elements(hexes(bytes)).map((each) => each?.toString('hex') ?? null)).toEqual(bytes)
  expect(elements(arrayOf('boolean', [true, false, null])).map((each) => each?.[0])).toEqual([
    1,
    0,
    undefined,
  ])
  expect(elements(texts([]))).toEqual([])
})
