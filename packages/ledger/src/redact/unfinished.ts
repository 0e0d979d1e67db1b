import { type Detector, START } from './detector.ts'
import {
  formatBeginning,
  formatPattern,
  longestOf,
  parsePattern,
  type PatternNode,
  shortestOf,
  someNode,
  type Telling,
  tellingOf,
} from './pattern-tree.ts'

/**
 * Secrets whose end has not come yet. What stands before a secret (its name, a command) may be shown at once, so only the value
 * waits. All of this is made out of the patterns of the detectors: what they find, a stream waits for.
 */
export interface Opening {
  /** Matches at the first character of a value that goes on to the end of the text. */
  readonly pattern: RegExp
  /** How far from the end of the text the value can begin. */
  readonly reach: number
  /** Whether it may go on beyond white space; if not, it is in the last word. */
  readonly spaced: boolean
  readonly isSecret: ((secret: string) => boolean) | undefined
  /** Matches at the first character of a value, of which the end of the text may cut off the rest. */
  readonly begun: string
  /** The same for a value that is there, with what stands behind it. */
  readonly whole: string
  /** The fewest characters of a value. */
  readonly shortest: number
  /** What must stand before the value, and how far before it that can be. */
  readonly telling: Telling | undefined
  readonly back: number
  /** Begins where a token does. */
  readonly atStart: boolean
}

interface Parts {
  readonly before: readonly PatternNode[]
  readonly secret: PatternNode
  readonly behind: readonly PatternNode[]
}

const SECRET = 'secret'
const isNamed = (node: PatternNode): boolean => node.type === 'group' && node.name === SECRET
const isAhead = (node: PatternNode): boolean => node.type === 'look' && node.ahead
const sequenceOf = (items: readonly PatternNode[]): PatternNode => ({ type: 'sequence', items })
const itemsOf = (node: PatternNode): readonly PatternNode[] =>
  node.type === 'sequence' ? node.items : [node]

/** One for each alternative in which the secret stands. */
function partsOf(node: PatternNode): Parts[] {
  if (!someNode(node, isNamed)) return []
  if (node.type === 'group' && node.name === SECRET) return [{ before: [], secret: node.body, behind: [] }]
  if (node.type === 'choice') return node.options.flatMap(partsOf)
  if ('body' in node) return partsOf(node.body)
  const items = itemsOf(node)
  const at = items.findIndex((item) => someNode(item, isNamed))
  // `(?=(?<secret>…))\k<secret>`, which is never tried again with less.
  const rest = items.slice(at + 1).filter((item) => item.type !== 'back' || item.name !== SECRET)
  return partsOf(items[at] as PatternNode).map(({ before, secret, behind }) => ({
    before: [...items.slice(0, at), ...before],
    secret,
    behind: [...behind, ...rest],
  }))
}

/** Without a group the whole match is the secret, but for what is only looked at. */
function partsOfWhole(node: PatternNode): Parts {
  const items = itemsOf(node)
  const behind = trailing(items)
  const rest = items.slice(0, items.length - behind.length)
  const start = rest.findIndex((item) => item.type !== 'look')
  return { before: rest.slice(0, start), secret: sequenceOf(rest.slice(start)), behind }
}

const trailing = (items: readonly PatternNode[]): readonly PatternNode[] =>
  items.slice(items.findLastIndex((item) => !isAhead(item)) + 1)

/** What may be asked of the text to come is not asked of what stands before the value. */
function loosened(node: PatternNode): PatternNode {
  if (node.type === 'look' && node.ahead)
    return node.negative && !someNode(node.body, ({ type }) => type === 'back' || type === 'look')
      ? node
      : sequenceOf([])
  if (node.type === 'sequence') return sequenceOf(node.items.map(loosened))
  if (node.type === 'choice') return { type: 'choice', options: node.options.map(loosened) }
  return 'body' in node ? { ...node, body: loosened(node.body) } : node
}

const exact = (items: readonly PatternNode[]): string => formatPattern(sequenceOf(items), SECRET)
const begun = (items: readonly PatternNode[]): string => formatBeginning(sequenceOf(items), SECRET)

/** What stands behind the value is undecided while it reaches the end of the text, also what must not stand there. */
function begunBehind(items: readonly PatternNode[]): string {
  const looks = trailing(items)
  if (looks.length === 0) return begun(items)
  const each = looks.map((look) =>
    look.type === 'look' ? `(?:${begun([look.body])})${look.negative ? '?' : ''}` : '',
  )
  return `${begun(items.slice(0, items.length - looks.length))}(?:${each.join('|')})`
}

const accepts = (node: PatternNode, chars: string, flags: string): boolean =>
  someNode(
    node,
    (one) => one.type === 'char' && new RegExp(`[${chars}](?<=${one.source})`, flags).test(chars),
  )
const SPACES = ' \n\r\t\u00a0'

function openingOf({ before, secret, behind }: Parts, { pattern, validate }: Detector): Opening {
  const flags = pattern.flags.replace(/[gy]/g, '')
  const lead = exact(before.map(loosened))
  // A value that ends as soon as it can has ended where its end stands.
  const ends =
    someNode(secret, (node) => node.type === 'repeat' && node.lazy) &&
    !someNode(sequenceOf(behind), (node) => node.type === 'edge')
  const closed = behind.length === 0 ? '' : `|(?<closed>${exact([secret])})${begunBehind(behind)}$`
  const start = `${lead === '' ? '' : `(?<=${lead})`}(?=[^])`
  const source = [
    start,
    ends ? `(?!${exact([secret, ...behind])})` : '',
    `(?:${begun([secret])}$${closed})`,
  ].join('')
  const isWide = behind.some((item) => !isAhead(item) || longestOf(item) > 1)
  return {
    pattern: new RegExp(source, `${flags}g`),
    reach: longestOf(secret) + longestOf(sequenceOf(behind)),
    spaced: accepts(secret, SPACES, flags) || (isWide && behind.some((item) => accepts(item, SPACES, flags))),
    isSecret: validate === undefined || validate.length > 1 ? undefined : (text) => isFit(validate, text),
    begun: start + begun([secret]),
    whole: `${start}(?<closed>${exact([secret])})${exact(behind)}`,
    shortest: shortestOf(secret),
    telling: tellingOf(sequenceOf(before)),
    back: longestOf(sequenceOf(before)),
    atStart: pattern.source.startsWith(START),
  }
}

/** Only for checks that look at nothing but the secret. */
const isFit = (validate: NonNullable<Detector['validate']>, secret: string): boolean =>
  (validate as (secret: string) => boolean)(secret)

const known = new WeakMap<Detector, readonly Opening[]>()

export function openingsOf(detector: Detector): readonly Opening[] {
  const found = known.get(detector)
  if (found) return found
  const tree = parsePattern(detector.pattern.source)
  const parts = partsOf(tree)
  const openings = (parts.length > 0 ? parts : [partsOfWhole(tree)]).map((each) => openingOf(each, detector))
  known.set(detector, openings)
  return openings
}

/** Where the first value from `from` on begins whose end has not come; the length of the text when there is none. */
export const openFrom = (opening: Opening, text: string, from: number): number =>
  firstFit(opening.pattern, opening, text, Math.max(from, text.length - opening.reach))

const wholes = new WeakMap<Opening, RegExp>()

/** Whether a value begins there whose end has come. */
export function isFoundBetween(opening: Opening, text: string, from: number, to: number): boolean {
  const pattern = wholes.get(opening) ?? new RegExp(opening.whole, opening.pattern.flags)
  wholes.set(opening, pattern)
  return firstFit(pattern, opening, text, from) < to
}

function firstFit(pattern: RegExp, { isSecret }: Opening, text: string, from: number): number {
  pattern.lastIndex = from
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const closed = match.groups?.['closed']
    if (closed === undefined || (isSecret?.(closed) ?? true)) return match.index
    pattern.lastIndex = match.index + 1
  }
  return text.length
}
