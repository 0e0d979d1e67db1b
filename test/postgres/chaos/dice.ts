/** Numbers that are the same again for the same seed. */
export interface Dice {
  /** Below `n`. */
  roll(n: number): number
  between(least: number, most: number): number
  one<T>(of: readonly T[]): T
  shuffle<T>(of: readonly T[]): T[]
}

export function createDice(seed: number): Dice {
  let state = (seed * 2_654_435_761 + 1) >>> 0
  function roll(n: number): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n
  }
  const one = <T>(of: readonly T[]): T => of[roll(of.length)] as T
  return {
    roll,
    between: (least, most) => least + roll(most - least + 1),
    one,
    shuffle(of) {
      const left = [...of]
      return of.map(() => left.splice(roll(left.length), 1)[0] as (typeof of)[number])
    },
  }
}
