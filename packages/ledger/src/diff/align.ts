import { isTalk, type Item } from './items.ts'

/** A place in both runs, in one of them, or a thing of one that stands where the other has another. */
export interface Pair {
  /** Index into the items of each run; -1 where it has none. */
  readonly a: number
  readonly b: number
}

/** Up to this many cells two stretches are compared exactly; beyond it, by what is unique in them. */
const EXACT_CELLS = 60_000

const UNIQUE_KEYS: readonly ((item: Item) => string)[] = [(item) => item.keys.strong, (item) => item.keys.mid]

/**
 * Pairs what two runs have in common, in order. First the equal beginning and end; then everything that is unique in
 * both is an anchor, longest rising sequence first by full content, then by input (patience); the stretches between
 * anchors are small and are aligned exactly. A stretch that is too long for that has nothing unique in common, and its
 * things are paired by name and number: the 17th search with the 17th search. All in n log n, whatever comes.
 */
export function align(a: readonly Item[], b: readonly Item[]): Pair[] {
  const pairs: Pair[] = []
  const work: Stretch[] = [{ a0: 0, a1: a.length, b0: 0, b1: b.length, level: 0 }]
  for (let stretch = work.pop(); stretch; stretch = work.pop()) alignStretch(a, b, stretch, pairs, work)
  return pairs.toSorted((x, y) => x.a - y.a)
}

interface Stretch {
  readonly a0: number
  readonly a1: number
  readonly b0: number
  readonly b1: number
  /** How many kinds of anchors were tried. */
  readonly level: number
}

function alignStretch(
  a: readonly Item[],
  b: readonly Item[],
  { a0, a1, b0, b1, level }: Stretch,
  pairs: Pair[],
  work: Stretch[],
): void {
  const same = (x: number, y: number): boolean => a[x]?.keys.strong === b[y]?.keys.strong
  let fromA = a0
  let fromB = b0
  let toA = a1
  let toB = b1
  while (fromA < toA && fromB < toB && same(fromA, fromB)) pairs.push({ a: fromA++, b: fromB++ })
  while (fromA < toA && fromB < toB && same(toA - 1, toB - 1)) pairs.push({ a: --toA, b: --toB })
  if (fromA === toA || fromB === toB) return
  const rest = { a0: fromA, a1: toA, b0: fromB, b1: toB }
  const key = UNIQUE_KEYS[level]
  if (key) {
    split(rest, uniqueAnchors(a, b, rest, key), level, pairs, work)
    return
  }
  if ((toA - fromA) * (toB - fromB) <= EXACT_CELLS) alignExactly(a, b, rest, pairs)
  else for (const pair of uniqueAnchors(a, b, rest, numbered())) pairs.push(pair)
}

type Range = Omit<Stretch, 'level'>

/** The stretches between the anchors, to be aligned with the next kind of anchor. */
function split(rest: Range, anchors: readonly Pair[], level: number, pairs: Pair[], work: Stretch[]): void {
  let { a0, b0 } = rest
  for (const anchor of [...anchors, { a: rest.a1, b: rest.b1 }]) {
    if (anchor.a > a0 && anchor.b > b0) work.push({ a0, a1: anchor.a, b0, b1: anchor.b, level: level + 1 })
    if (anchor.a < rest.a1) pairs.push(anchor)
    a0 = anchor.a + 1
    b0 = anchor.b + 1
  }
}

/** Numbers the things of one name, each run for itself. */
function numbered(): (item: Item, side: 'a' | 'b') => string {
  const counts = { a: new Map<string, number>(), b: new Map<string, number>() }
  return ({ keys: { weak } }, side) => {
    const count = (counts[side].get(weak) ?? 0) + 1
    counts[side].set(weak, count)
    return `${count} ${weak}`
  }
}

/** Things whose key is unique on both sides, as far as they are in the same order. */
function uniqueAnchors(
  a: readonly Item[],
  b: readonly Item[],
  { a0, a1, b0, b1 }: Range,
  keyOf: (item: Item, side: 'a' | 'b') => string,
): Pair[] {
  const places = new Map<string, { a: number; b: number }>()
  for (let i = a0; i < a1; i++) {
    const key = keyOf(a[i] as Item, 'a')
    places.set(key, { a: places.has(key) ? -1 : i, b: -1 })
  }
  for (let j = b0; j < b1; j++) {
    const place = places.get(keyOf(b[j] as Item, 'b'))
    if (place && place.a >= 0) place.b = place.b === -1 ? j : -2
  }
  const common = [...places.values()].filter((place) => place.a >= 0 && place.b >= 0)
  return longestRising(common.toSorted((x, y) => x.a - y.a))
}

/** Longest sequence in which both indexes rise, of pairs that are in the order of `a`. */
function longestRising(pairs: readonly Pair[]): Pair[] {
  const tops: number[] = []
  const before = new Int32Array(pairs.length).fill(-1)
  for (const [at, pair] of pairs.entries()) {
    let low = 0
    let high = tops.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[tops[middle] as number] as Pair).b < pair.b) low = middle + 1
      else high = middle
    }
    if (low > 0) before[at] = tops[low - 1] as number
    tops[low] = at
  }
  const rising: Pair[] = []
  for (let at = tops.at(-1) ?? -1; at >= 0; at = before[at] as number) rising.push(pairs[at] as Pair)
  return rising.toReversed()
}

/** The more two things have in common, the more they belong together; words of a message alone say little. */
function likeness(x: Item, y: Item): number {
  if (x.keys.strong === y.keys.strong) return 16
  if (x.keys.weak !== y.keys.weak) return 0
  if (x.prose === 'output' && (x.input ?? x.inputDigest) === null)
    return x.keys.decision !== y.keys.decision ? 2 : isTalk(x) ? 3 : 8
  if (x.keys.mid === y.keys.mid) return x.prose === 'message' ? 3 : 12
  if (x.prose === 'message') return 3
  return x.stepId !== null && x.stepId === y.stepId ? 8 : 6
}

function alignExactly(
  a: readonly Item[],
  b: readonly Item[],
  { a0, a1, b0, b1 }: Range,
  pairs: Pair[],
): void {
  const rows = a1 - a0
  const width = b1 - b0 + 1
  // Best sum of likeness of what is left from each cell on, so that the walk from the start takes early pairs first.
  const best = new Int32Array((rows + 1) * width)
  for (let i = rows - 1; i >= 0; i--)
    for (let j = width - 2; j >= 0; j--) {
      const like = likeness(a[a0 + i] as Item, b[b0 + j] as Item)
      const skip = Math.max(best[(i + 1) * width + j] as number, best[i * width + j + 1] as number)
      best[i * width + j] =
        like === 0 ? skip : Math.max(skip, like + (best[(i + 1) * width + j + 1] as number))
    }
  for (let i = 0, j = 0; i < rows && j < width - 1; ) {
    const here = best[i * width + j] as number
    const like = likeness(a[a0 + i] as Item, b[b0 + j] as Item)
    if (like > 0 && here === like + (best[(i + 1) * width + j + 1] as number)) {
      pairs.push({ a: a0 + i++, b: b0 + j++ })
    } else if (here === best[(i + 1) * width + j]) i++
    else j++
  }
}
