import { parsePattern, type PatternNode } from './pattern-tree.ts'

/** Whether a match may begin with a digit, and whether it may have no character at all. */
interface First {
  readonly digit: boolean
  readonly empty: boolean
}

const known = new Map<string, boolean>()
function isDigit(source: string): boolean {
  const is = known.get(source) ?? Array.from('0123456789').some((digit) => new RegExp(source).test(digit))
  known.set(source, is)
  return is
}

function firstOf(node: PatternNode): First {
  switch (node.type) {
    case 'char':
      return { digit: isDigit(node.source), empty: false }
    case 'edge':
    case 'look':
      return { digit: false, empty: true }
    case 'back':
      return { digit: true, empty: true }
    case 'group':
      return firstOf(node.body)
    case 'repeat': {
      const { digit, empty } = firstOf(node.body)
      return { digit, empty: empty || node.least === 0 }
    }
    case 'choice': {
      const all = node.options.map(firstOf)
      return { digit: all.some(({ digit }) => digit), empty: all.some(({ empty }) => empty) }
    }
    case 'sequence': {
      const all = node.items.map(firstOf)
      const end = all.findIndex(({ empty }) => !empty)
      const head = end < 0 ? all : all.slice(0, end + 1)
      return { digit: head.some(({ digit }) => digit), empty: end < 0 }
    }
  }
}

const mayPrecede = (node: PatternNode): boolean => {
  switch (node.type) {
    case 'look': {
      if (!node.ahead || node.negative) return true
      const { digit, empty } = firstOf(node.body)
      return digit || empty
    }
    case 'group':
      return mayPrecede(node.body)
    case 'choice':
      return node.options.some(mayPrecede)
    case 'sequence': {
      const looks = node.items.findIndex(({ type }) => type !== 'look')
      return node.items.slice(0, looks < 0 ? node.items.length : looks + 1).every(mayPrecede)
    }
    default:
      return true
  }
}

/** To read longer ones would take longer than it saves. */
const LONGEST = 1000

/** Whether what an anchor asks about its neighbours can be so when a digit follows. */
export const mayPrecedeDigit = (looks: string): boolean =>
  looks.length > LONGEST || mayPrecede(parsePattern(looks))
