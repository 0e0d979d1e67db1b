/** A regular expression as a tree, as far as those of the detectors go: no flags that change the grammar. */
export type PatternNode =
  /** One character: itself, an escape or a class. */
  | { readonly type: 'char'; readonly source: string }
  /** `^`, `$`, `\b`. */
  | { readonly type: 'edge'; readonly source: string }
  | { readonly type: 'look'; readonly ahead: boolean; readonly negative: boolean; readonly body: PatternNode }
  | { readonly type: 'group'; readonly name: string | undefined; readonly body: PatternNode }
  | { readonly type: 'back'; readonly name: string }
  | {
      readonly type: 'repeat'
      readonly body: PatternNode
      readonly least: number
      readonly most: number
      readonly lazy: boolean
    }
  | { readonly type: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly type: 'choice'; readonly options: readonly PatternNode[] }

const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|.)/y
const CLASS = /\[(?:\\.|[^\]\\])*\]/y
const OPENING = /\((?:\?(?::|=|!|<=|<!|<(?<name>\w+)>))?/y
const COUNT = /(?:([*+?])|\{(\d+)(,?)(\d*)\})(\??)/y
const BACK = /\\(?:k<(\w+)>|([1-9]))/y

export function parsePattern(source: string): PatternNode {
  let at = 0
  let groups = 0

  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(source)
    if (match) at += match[0].length
    return match
  }

  const choice = (): PatternNode => {
    const options: PatternNode[] = [sequence()]
    while (source[at] === '|') {
      at++
      options.push(sequence())
    }
    return options.length === 1 ? (options[0] as PatternNode) : { type: 'choice', options }
  }

  const sequence = (): PatternNode => {
    const items: PatternNode[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') items.push(repeated(one()))
    return items.length === 1 ? (items[0] as PatternNode) : { type: 'sequence', items }
  }

  const repeated = (body: PatternNode): PatternNode => {
    const count = take(COUNT)
    if (!count) return body
    const [, sign, from = '', comma, to = '', lazy] = count
    const least = sign === undefined ? Number(from) : sign === '+' ? 1 : 0
    const bounded = sign === '?' ? 1 : Number.POSITIVE_INFINITY
    const most = sign !== undefined ? bounded : comma === '' ? least : to === '' ? bounded : Number(to)
    return { type: 'repeat', body, least, most, lazy: lazy === '?' }
  }

  const one = (): PatternNode => {
    const opening = take(OPENING)
    if (opening) return bracketed(opening)
    const back = take(BACK)
    if (back) return { type: 'back', name: back[1] ?? `g${back[2] ?? ''}` }
    const set = take(CLASS) ?? take(ESCAPE)
    const text = set?.[0] ?? source.charAt(at++)
    return /^(?:[$^]|\\[bB])$/.test(text) ? { type: 'edge', source: text } : { type: 'char', source: text }
  }

  const bracketed = ({ 0: text, groups: named }: RegExpExecArray): PatternNode => {
    const name = named?.['name'] ?? (text === '(' ? `g${groups + 1}` : undefined)
    if (name !== undefined) groups++
    const body = choice()
    at++
    if (name !== undefined || text === '(?:') return { type: 'group', name, body }
    return { type: 'look', ahead: !text.includes('<'), negative: text.endsWith('!'), body }
  }

  return choice()
}

const countOf = (least: number, most: number): string =>
  `{${least},${most === Number.POSITIVE_INFINITY ? '' : most}}`

/** The source again. Groups keep their names, and those in `unnamed` catch nothing. */
export function formatPattern(node: PatternNode, unnamed: string): string {
  const format = (one: PatternNode): string => formatPattern(one, unnamed)
  switch (node.type) {
    case 'char':
    case 'edge':
      return node.source
    case 'look':
      return `(?${node.ahead ? '' : '<'}${node.negative ? '!' : '='}${format(node.body)})`
    case 'group':
      return `(?${node.name === undefined || node.name === unnamed ? ':' : `<${node.name}>`}${format(node.body)})`
    case 'back':
      return `\\k<${node.name}>`
    case 'repeat':
      return `(?:${format(node.body)})${countOf(node.least, node.most)}${node.lazy ? '?' : ''}`
    case 'sequence':
      return node.items.map(format).join('')
    case 'choice':
      return `(?:${node.options.map(format).join('|')})`
  }
}

/**
 * What matches each beginning of a match that the end of the text cuts off. From there on all the rest is taken to fit, so this
 * finds at least what more text can turn into a match.
 */
export function formatBeginning(node: PatternNode, unnamed: string): string {
  const format = (one: PatternNode): string => formatBeginning(one, unnamed)
  switch (node.type) {
    case 'char':
      return `(?:${node.source}|$)`
    case 'edge':
      return node.source === '$' ? '$' : `(?:${node.source}|$)`
    case 'look':
      // What is asked of the text to come may still be so.
      return node.ahead && (!node.negative || hasDoubt(node.body))
        ? ''
        : `(?:$|${formatPattern(node, unnamed)})`
    case 'group':
      return `(?${node.name === undefined || node.name === unnamed ? ':' : `<${node.name}>`}${format(node.body)})`
    case 'back':
      return `(?:\\k<${node.name}>|\\\\{0,9}$)`
    case 'repeat': {
      const { body, least, most } = node
      if (body.type !== 'char' && most >= MANY) {
        const name = `run${runs++}`
        return `(?:(?=(?<${name}>${format(body)}))\\k<${name}>)${countOf(least, most)}`
      }
      if (body.type !== 'char') return `(?:${format(body)})${countOf(least, most)}`
      const whole = `${body.source}${countOf(least, most)}`
      return least === 0 ? whole : `(?:${whole}|${body.source}${countOf(0, least - 1)}$)`
    }
    case 'sequence':
      return node.items.map(format).join('')
    case 'choice':
      return `(?:${node.options.map(format).join('|')})`
  }
}

/**
 * A text can be shared out among so many repetitions in more ways than can be tried when the end of the text is not reached:
 * each takes all it can, and it stays so.
 */
const MANY = 16
let runs = 0

const childrenOf = (node: PatternNode): readonly PatternNode[] =>
  'body' in node
    ? [node.body]
    : node.type === 'sequence'
      ? node.items
      : node.type === 'choice'
        ? node.options
        : []

export const someNode = (node: PatternNode, test: (node: PatternNode) => boolean): boolean =>
  test(node) || childrenOf(node).some((child) => someNode(child, test))

/** Whether a match of it may be none any more when the text goes on, or depends on what is caught elsewhere. */
const hasDoubt = (node: PatternNode): boolean =>
  someNode(
    node,
    ({ type, ...rest }) => type === 'back' || type === 'look' || ('source' in rest && rest.source === '$'),
  )

/** The most characters that a match can have. */
export function longestOf(node: PatternNode): number {
  switch (node.type) {
    case 'char':
      return 1
    case 'edge':
      return 0
    case 'back':
      return 16
    case 'look':
    case 'group':
      return longestOf(node.body)
    case 'repeat': {
      const one = longestOf(node.body)
      return one === 0 ? 0 : one * node.most
    }
    case 'sequence':
      return node.items.reduce((sum, item) => sum + longestOf(item), 0)
    case 'choice':
      return Math.max(...node.options.map(longestOf))
  }
}

/** The fewest characters that a match has. */
export function shortestOf(node: PatternNode): number {
  switch (node.type) {
    case 'char':
      return 1
    case 'edge':
    case 'back':
    case 'look':
      return 0
    case 'group':
      return shortestOf(node.body)
    case 'repeat':
      return shortestOf(node.body) * node.least
    case 'sequence':
      return node.items.reduce((sum, item) => sum + shortestOf(item), 0)
    case 'choice':
      return Math.min(...node.options.map(shortestOf))
  }
}

/** Parts of words: each match has one of them in it. */
export interface Telling {
  readonly sources: readonly string[]
  /** How many letters the shortest has. */
  readonly letters: number
}

const NARROW = /^(?:[\p{L}\d ]|\[[\p{L}]{1,4}\])$/u
const MOST_LETTERS = 5

/** The most telling of what a match cannot do without. */
export function tellingOf(node: PatternNode): Telling | undefined {
  switch (node.type) {
    case 'char':
      return tellingRun([node])
    case 'group':
      return tellingOf(node.body)
    case 'look':
      return node.ahead || node.negative ? undefined : tellingOf(node.body)
    case 'repeat':
      return node.least > 0 ? tellingOf(node.body) : undefined
    case 'choice': {
      const each = node.options.map(tellingOf)
      if (each.some((one) => one === undefined)) return undefined
      const known = each as Telling[]
      return {
        sources: [...new Set(known.flatMap(({ sources }) => sources))],
        letters: Math.min(...known.map(({ letters }) => letters)),
      }
    }
    case 'sequence': {
      const inner = node.items.flatMap((item) => (item.type === 'char' ? [] : [tellingOf(item)]))
      const runs = node.items.map((_, at) => tellingRun(node.items.slice(at)))
      return [...inner, ...runs].reduce(
        (best, one) => ((one?.letters ?? 0) > (best?.letters ?? 0) ? one : best),
        undefined,
      )
    }
    default:
      return undefined
  }
}

/** The letters with which the nodes begin. */
function tellingRun(nodes: readonly PatternNode[]): Telling | undefined {
  let source = ''
  let letters = 0
  for (const node of nodes) {
    if (node.type !== 'char' || !NARROW.test(node.source) || letters >= MOST_LETTERS) break
    source += node.source
    if (node.source !== ' ') letters += /[\u0080-\uffff]/.test(node.source) ? 2 : 1
  }
  return letters === 0 ? undefined : { sources: [source], letters }
}
