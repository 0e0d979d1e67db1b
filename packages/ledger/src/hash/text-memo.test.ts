import { expect, test } from 'vitest'
import { createTextMemo } from './text-memo.ts'

const text = (seed: number, length = 200): string => `${seed} `.padEnd(length, 'x')

test('L8 a text is known until half of the memo was filled after it, and for longer when it is asked for', () => {
  const memo = createTextMemo<number>(4000)
  memo.set(text(1), 1)
  memo.set(text(2), 2)
  for (let seed = 3; seed < 100; seed++) {
    memo.set(text(seed), seed)
    expect(memo.get(text(1))).toBe(1)
  }
  expect(memo.get(text(2))).toBeUndefined()
})

test('L8 short texts and texts that would fill it are not remembered', () => {
  const memo = createTextMemo<number>(4000)
  for (const length of [10, 127, 1001]) {
    memo.set(text(1, length), 1)
    expect(memo.get(text(1, length))).toBeUndefined()
  }
})
