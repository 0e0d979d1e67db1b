import { formatPath, isObject } from '../json.ts'

/** One place where two values differ, both sides as short text; null where there is nothing. */
export interface Change {
  readonly path: string
  readonly expected: string | null
  readonly received: string | null
}

const MAX_CHANGES = 8
const SHOWN = 120
/** Comparison stops at this depth: hostile data may be deeper than the call stack. */
const DEEPEST = 200

interface ValuePair {
  readonly path: readonly (string | number)[]
  readonly a: unknown
  readonly b: unknown
}

type IsIgnored = (path: readonly (string | number)[]) => boolean

/** The first `most` places where two values differ, in their order, without those at ignored paths. */
export function findChanges(a: unknown, b: unknown, most = MAX_CHANGES, isIgnored?: IsIgnored): Change[] {
  return differences(a, b, most, isIgnored).map(({ path, a: expected, b: received }) =>
    typeof expected === 'string' && typeof received === 'string'
      ? { path: formatPath(path), ...shortStrings(expected, received) }
      : { path: formatPath(path), expected: shortText(expected), received: shortText(received) },
  )
}

/** Whether two values differ in nothing but prose: sentences that another wording may replace. */
export function differInWords(a: unknown, b: unknown): boolean {
  const places = differences(a, b, 20)
  return places.length > 0 && places.length < 20 && places.every((place) => areSentences(place.a, place.b))
}

/** Words on both sides, and a sentence on one of them: `spam` and `ham` are data. */
function areSentences(a: unknown, b: unknown): boolean {
  if (typeof a !== 'string' || typeof b !== 'string') return false
  return [a, b].every((text) => /\S\s+\S/.test(text)) && [a, b].some((text) => /(?:\S+\s+){3}\S/.test(text))
}

function differences(a: unknown, b: unknown, most: number, isIgnored?: IsIgnored): ValuePair[] {
  const found: ValuePair[] = []
  const work: ValuePair[] = [{ path: [], a, b }]
  for (let at = work.pop(); at && found.length < most; at = work.pop()) {
    if (Object.is(at.a, at.b) || isIgnored?.(at.path)) continue
    const keys = at.path.length < DEEPEST ? commonShape(at.a, at.b) : undefined
    if (!keys) {
      found.push(at)
      continue
    }
    // Last key first, so that the stack gives them in their order.
    for (const key of keys.toReversed())
      work.push({
        path: [...at.path, key],
        a: Reflect.get(at.a as object, key),
        b: Reflect.get(at.b as object, key),
      })
  }
  return found
}

/** The keys to look into when both sides are lists, or both are objects. */
function commonShape(a: unknown, b: unknown): (string | number)[] | undefined {
  if (Array.isArray(a) && Array.isArray(b))
    return Array.from({ length: Math.max(a.length, b.length) }, (_, at) => at)
  if (isObject(a) && isObject(b)) return [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return undefined
}

/** Two texts from a little before their first difference on. */
function shortStrings(a: string, b: string): { expected: string; received: string } {
  let same = 0
  while (same < a.length && same < b.length && a[same] === b[same]) same++
  const from = a.length <= SHOWN && b.length <= SHOWN ? 0 : Math.max(0, same - 24)
  const part = (text: string): string => {
    const shown = text.slice(from, from + SHOWN)
    return JSON.stringify(`${from > 0 ? '…' : ''}${shown}${from + SHOWN < text.length ? '…' : ''}`)
  }
  return { expected: part(a), received: part(b) }
}

/** A value on one line, cut short; null for what is not there. */
export function shortText(value: unknown, most = SHOWN): string | null {
  if (value === undefined) return null
  if (typeof value === 'string')
    return JSON.stringify(value.length > most ? `${value.slice(0, most)}…` : value)
  let text = ''
  const work: { readonly value?: unknown; readonly text?: string }[] = [{ value }]
  for (let at = work.pop(); at && text.length <= most; at = work.pop()) {
    if (at.text !== undefined) text += at.text
    else if (Array.isArray(at.value) || isObject(at.value)) {
      const isList = Array.isArray(at.value)
      const entries = Object.entries(at.value as object).slice(0, most)
      text += isList ? '[' : '{'
      work.push({ text: isList ? ']' : '}' })
      for (const [index, [key, each]] of entries.toReversed().entries()) {
        work.push({ value: each }, { text: isList ? '' : `${JSON.stringify(key)}:` })
        if (index < entries.length - 1) work.push({ text: ',' })
      }
    } else if (typeof at.value === 'string') text += JSON.stringify(at.value.slice(0, most))
    else text += String(at.value)
  }
  return text.length > most ? `${text.slice(0, most)}…` : text
}
