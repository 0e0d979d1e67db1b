/** Seeded dice (mulberry32): a failure can be repeated by its seed. */
export interface Random {
  /** 0 ≤ n < 1 */
  next(): number
  below(n: number): number
  pick<T>(list: readonly T[]): T
  text(length: number): string
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (n: number): number => Math.floor(next() * n)
  return {
    next,
    below,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    text(length) {
      let text = ''
      while (text.length < length) text += 'abcdefghij klmnop\n"\\é𝄞'.charAt(below(22))
      return text
    },
  }
}

/** Any JSON value, small or large enough to be kept as a tree; `budget` bounds the number of its parts. */
export function randomValue(random: Random, budget = { parts: 200 }, depth = 0): unknown {
  const size = Math.min(random.below(40), budget.parts)
  budget.parts -= size
  switch (random.below(depth > 4 ? 5 : 8)) {
    case 0:
      return random.text(random.below(12))
    case 1:
      return random.text(random.below(1500))
    case 2:
      return random.pick([0, -1, 1.5, 1e21, -1e-7, 2 ** 53, random.next()])
    case 3:
      return random.pick([true, false, null])
    case 4:
      return random.pick(['', '$clew', '__proto__', '=', '#1', 'a\n=b', '"'])
    case 5:
      return Array.from({ length: size }, () => randomValue(random, budget, depth + 1))
    default: {
      const keys = Array.from({ length: size }, () => random.text(1 + random.below(9)))
      return Object.fromEntries(keys.map((key) => [key, randomValue(random, budget, depth + 1)]))
    }
  }
}
