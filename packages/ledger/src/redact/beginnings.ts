import { START } from './detector.ts'
import type { Finder } from './spans.ts'
import { isFoundBetween, type Opening, openFrom } from './unfinished.ts'

/**
 * Which secrets begin in the newest words of a text that comes in pieces. Nearly all words are let go at once: before a value
 * stands a word that tells of it, so where none was seen for long, the patterns themselves are not asked.
 */
export interface Beginnings {
  readonly look: (text: string, from: number, to: number) => Begun
  /** So much is gone from the beginning of the text. */
  readonly forget: (count: number) => void
}

interface Begun {
  /** The first place that more text may still make a part of a secret, or `to`. */
  readonly at: number
  /** What is open there, so that a long value is not asked about in vain. */
  readonly by: Open | undefined
  /** Whether some secret is whole. If not, none is found. */
  readonly isFound: boolean
}

/** Something that may be open at the end of a text, told by where it begins. */
export type Open = (text: string, from: number) => number

/** A table whose rows go on, told by its head. */
export interface Tables {
  readonly telling: RegExp
  /** Whether a row goes on, or a secret stands in one behind `from`, in a table whose head stands behind `since`. */
  readonly hasCell: (text: string, from: number, since: number) => boolean
  readonly open: Open
}

/** Openings that the same words tell of. */
interface Cluster {
  readonly telling: RegExp
  /** How far behind such a word a value can begin. */
  readonly back: number
  readonly openings: readonly Opening[]
  readonly begins: readonly RegExp[]
}

interface Plan {
  readonly clusters: readonly Cluster[]
  /** All words that tell of something. */
  readonly telling: readonly RegExp[]
  /** One word of some length, told by its form. */
  readonly long: readonly Pick<Cluster, 'begins' | 'openings'>[]
  readonly loose: readonly Opening[]
}

const LONG = 12
const LONG_WORD = new RegExp(`\\S{${LONG}}`)
/** What tells of a value may come in two pieces. */
const LONGEST_TELLING = 12
/** V8 makes slow code of longer patterns. */
const LONGEST_PATTERN = 16_000
/** With one letter nothing is told. */
const FEWEST_LETTERS = 2
/** The line of which a finder knows, or as much as stands before a long word. */
const BEFORE = 80
/** Outside of these, words have no end that each detector knows. */
const FOREIGN = /[^\t-\r\x20-\x7e]/
/** A row of a table, the values of an INSERT or an object of cookies may begin here. */
const ROW = /[\n({]|\\n/
/** `VALUES` and the names before it. */
const HEAD = 64
const LONGEST_HEAD = 640

const ownNames = (source: string, id: number): string =>
  source.replaceAll(/(\(\?|\\k)<(\w+)>/g, `$1<$2x${id}>`)

/** Patterns that are tried together. */
function joined(openings: readonly Opening[], sourceOf: (opening: Opening) => string, lead = ''): RegExp[] {
  const made: RegExp[] = []
  for (const [flags, list] of Map.groupBy(openings, ({ pattern }) => pattern.flags)) {
    let source = ''
    for (const [id, opening] of list.entries()) {
      const one = ownNames(sourceOf(opening), id)
      if (source.length + one.length > LONGEST_PATTERN) {
        made.push(new RegExp(`${lead}(?:${source})`, flags))
        source = ''
      }
      source += source === '' ? one : `|${one}`
    }
    made.push(new RegExp(`${lead}(?:${source})`, flags))
  }
  return made
}

function planOf(openings: readonly Opening[], isForeign: boolean): Plan {
  const sourceOf = ({ begun, whole, spaced }: Opening): string => (spaced || isForeign ? begun : whole)
  const isLong = ({ spaced, shortest }: Opening): boolean => !spaced && shortest >= LONG
  const isTold = ({ telling }: Opening): boolean => (telling?.letters ?? 0) >= FEWEST_LETTERS
  const tellingOf = ({ telling }: Opening): string => telling?.sources.join('|') ?? ''
  const [long, short] = [openings.filter(isLong), openings.filter((one) => !isLong(one))]
  const told = short.filter(isTold)
  const clusters = Map.groupBy(
    told,
    (one) => `${one.pattern.flags}:${Math.ceil(Math.log2(one.back))}:${tellingOf(one)}`,
  )
  return {
    clusters: [...clusters.values()].flatMap((list) =>
      joined(list.slice(0, 1), tellingOf).map((telling) => ({
        telling,
        back: Math.max(...list.map((one) => one.back)),
        openings: list,
        begins: joined(list, sourceOf),
      })),
    ),
    telling: joined(told, tellingOf),
    long: [true, false].map((atStart) => {
      const list = long.filter((one) => one.atStart === atStart)
      return { openings: list, begins: joined(list, sourceOf, atStart ? START : '') }
    }),
    loose: short.filter((one) => !isTold(one)),
  }
}

function isIn(pattern: RegExp, text: string, from: number): boolean {
  pattern.lastIndex = from
  return pattern.test(text)
}

function lastIn(pattern: RegExp, text: string, from: number, known: number): number {
  let last = known
  pattern.lastIndex = from
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) last = match.index
  return last
}

/** What is made once for all the streams of a redactor. */
export function createBeginnings(
  openings: readonly Opening[],
  finders: readonly Finder[],
  tables: Tables,
): () => Beginnings {
  const native = planOf(openings, false)
  let foreign: Plan | undefined
  const opens = new Map(
    openings.map((one): [Opening, Open] => [one, (text, from) => openFrom(one, text, from)]),
  )

  return () => {
    const last = native.clusters.map(() => Number.NEGATIVE_INFINITY)
    let lastHead = -1
    let heard = 0
    let inTable = false

    /** Remembers where the text last told of something. */
    const hear = (text: string, from: number): void => {
      const start = Math.max(0, heard - LONGEST_TELLING)
      if (native.telling.some((pattern) => isIn(pattern, text, start)))
        for (const [at, { telling }] of native.clusters.entries())
          last[at] = lastIn(telling, text, start, last[at] as number)
      lastHead = lastIn(tables.telling, text, start, lastHead)
      if (inTable) inTable = tables.hasCell(text, from, 0)
      else if (ROW.test(text.slice(Math.max(0, heard - 1)))) {
        // A table that has ended stays so, and older heads have been asked.
        const since = text.lastIndexOf('\n', heard - HEAD) + 1
        inTable = lastHead >= since && tables.hasCell(text, from, Math.max(0, since - LONGEST_HEAD))
      }
      heard = text.length
    }

    return {
      look(text, from, to) {
        const wasInTable = inTable
        hear(text, from)
        let [at, by]: [number, Open | undefined] = [to, undefined]
        let isFound = inTable || wasInTable
        const ask = (open: Open): void => {
          const start = open(text, from)
          if (start < at) [at, by] = [start, open]
        }
        const askAbout = (opening: Opening, isOpen: boolean): void => {
          if (isOpen) ask(opens.get(opening) as Open)
          isFound ||= isFoundBetween(opening, text, from, to)
        }
        const words = text.slice(from)
        const isForeign = FOREIGN.test(words)
        const plan = isForeign ? (foreign ??= planOf(openings, true)) : native
        for (const [index, { back, begins, openings: told }] of plan.clusters.entries())
          if ((last[index] as number) >= from - back && begins.some((one) => isIn(one, text, from)))
            for (const one of told) askAbout(one, isForeign || one.spaced)
        if (
          LONG_WORD.test(words) &&
          plan.long.some(({ begins }) => begins.some((one) => isIn(one, text, from)))
        )
          for (const one of plan.long.flatMap((each) => each.openings)) askAbout(one, isForeign)
        for (const one of plan.loose) askAbout(one, isForeign || one.spaced)
        if (inTable) ask(tables.open)
        for (const { needs, open, mayFind } of finders) {
          if (needs && !needs.test(words)) continue
          if (open) ask(open)
          const line = text.lastIndexOf('\n', from - 1) + 1
          isFound ||= mayFind(text.slice(Math.max(0, Math.min(line, from - BEFORE))))
        }
        return { at, by, isFound }
      },
      forget(count) {
        heard -= count
        lastHead -= count
        for (const [index, place] of last.entries()) last[index] = place - count
      },
    }
  }
}
