/** Repeatable dice: the same seed gives the same runs. */
export interface Dice {
  between(low: number, high: number): number
  pick<T>(list: readonly T[]): T
  word(): string
  hex(length: number): string
}

export function createDice(seed: number): Dice {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1))
  const pick = <T>(list: readonly T[]): T => list[between(0, list.length - 1)] as T
  return {
    between,
    pick,
    word: () =>
      pick(['owl', 'fern', 'harbour', 'lamp', 'copper', 'willow', 'delta', 'ember']) + between(10, 99),
    hex: (length) => Array.from({ length }, () => between(0, 15).toString(16)).join(''),
  }
}
