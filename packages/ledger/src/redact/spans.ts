import { formatPlaceholder, placeholdersIn } from './placeholder.ts'
import type { Detector } from './detector.ts'
import { HARD_KEY, SOFT_KEY } from './keys.ts'
import { repeatsOf } from './repeats.ts'

export interface Span {
  start: number
  end: number
  kind: string
}

/** Looks for what no single pattern describes. When `mayFind` is false for a text, also as JSON escapes it, `find` finds nothing. */
export interface Finder {
  readonly mayFind: (text: string) => boolean
  readonly find: (text: string) => readonly Span[]
  /** What each of its finds has in itself. */
  readonly needs?: RegExp
  /**
   * For what the text behind the next white space has a say in: where it begins, from `from` on, while that text is still to
   * come; the length of the text when nothing is open.
   */
  readonly open?: (text: string, from: number) => number
}

const NAME_FIRST = new RegExp(`(?<key>${HARD_KEY}|${SOFT_KEY})`).source
const NAME = new RegExp(`(?=${HARD_KEY}|${SOFT_KEY})`, 'g')

/** Where the name of a secret begins. Many patterns begin with one; it is looked for once, and they are tried only there. */
function namesIn(text: string): number[] {
  const places: number[] = []
  for (const { index } of text.matchAll(NAME)) places.push(index)
  return places
}

const sticky = new WeakMap<RegExp, RegExp | null>()
function atNames(pattern: RegExp): RegExp | null {
  const known = sticky.get(pattern)
  if (known !== undefined) return known
  const isNamed = pattern.source.startsWith(NAME_FIRST) && !pattern.ignoreCase
  const made = isNamed ? new RegExp(pattern.source, 'y') : null
  sticky.set(pattern, made)
  return made
}

/** In a longer one nothing is looked for again: with many beginnings it would take long. */
const LONGEST_RETRY = 96

/**
 * Calls `visit` with each match, as a search through the whole text would find them. In one that is no find, another may begin:
 * `password: password = …`.
 */
function eachMatch(
  text: string,
  pattern: RegExp,
  names: () => number[],
  visit: (match: RegExpExecArray) => boolean,
): void {
  const named = atNames(pattern)
  if (named === null) {
    pattern.lastIndex = 0
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      if (match[0] === '') pattern.lastIndex++
      else if (!visit(match) && match[0].length <= LONGEST_RETRY) pattern.lastIndex = match.index + 1
    }
    return
  }
  let end = 0
  for (const place of names()) {
    if (place < end) continue
    named.lastIndex = place
    const match = named.exec(text)
    if (match === null) continue
    if (visit(match)) end = named.lastIndex
  }
}

/** Everything that the detectors find in the text, in their order. */
export function findSpans(
  text: string,
  detectors: readonly Detector[],
  names: () => number[] = namesOf(text),
): Span[] {
  const spans: Span[] = []
  for (const detector of detectors) {
    const { kind, pattern, mark } = detector
    if (mark !== undefined && !text.includes(mark)) continue
    eachMatch(text, pattern, names, (match) => {
      const secret = match.groups?.secret ?? match[0]
      const end = match.index + match[0].length
      const name = (): string => (typeof kind === 'string' ? kind : kind(match))
      if (detector.locate) {
        for (const place of detector.locate(match)) spans.push({ ...place, kind: name() })
        return true
      }
      if (!(detector.validate?.(secret, match) ?? true)) return false
      spans.push({ start: end - secret.length, end, kind: name() })
      return true
    })
  }
  return spans
}

/** The names in a text for all groups of detectors. */
export const namesOf = (text: string): (() => number[]) => once(() => namesIn(text))

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** In order of the text, without overlaps. */
export function settleSpans(text: string, spans: Span[]): Span[] {
  if (spans.length === 0) return spans
  const places = placeholdersIn(text)
  const settled = mergeSpans(places.length > 0 ? outside(places, spans) : spans)
  const repeats = repeatsOf(text, settled)
  return repeats.length === 0 ? settled : mergeSpans([...settled, ...outside(places, repeats)])
}

/** Redacting twice changes nothing: a find that holds a placeholder became possible only through it, and a stream could not have known. */
function outside(places: readonly RegExpExecArray[], spans: readonly Span[]): Span[] {
  const sorted = spans.toSorted((a, b) => a.start - b.start)
  let next = 0
  return sorted.filter(({ start, end }) => {
    for (let place = places[next]; place && place.index + place[0].length <= start; place = places[next])
      next++
    return end <= (places[next]?.index ?? Number.POSITIVE_INFINITY)
  })
}

/** The longer of two finds wins, so that no remainder of a secret stays; of equals the first detector's. */
function mergeSpans(spans: Span[]): Span[] {
  const merged: Span[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1)
    if (last === undefined || span.start >= last.end) merged.push(span)
    else if (span.end > last.end) last.end = span.end
  }
  return merged
}

export interface Cleaned {
  text: string
  /** How many secrets were replaced. */
  count: number
}

/** How often a text is looked through again because something was found in it. */
export const MOST_ROUNDS = 8

/**
 * Replaces what `detect` finds until it finds no more: a placeholder in its neighbour's place can turn a text
 * into a find, which a second redaction would otherwise be the first to see.
 */
export function cleanText(
  text: string,
  detect: (text: string) => readonly Span[],
  fingerprint: (secret: string) => string,
): Cleaned {
  let cleaned = text
  let count = 0
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const spans = detect(cleaned)
    if (spans.length === 0) break
    cleaned = replaceSpans(cleaned, spans, fingerprint)
    count += spans.length
  }
  return { text: cleaned, count }
}

function replaceSpans(text: string, spans: readonly Span[], fingerprint: (secret: string) => string): string {
  let out = ''
  let at = 0
  for (const { start, end, kind } of spans) {
    out += text.slice(at, start) + formatPlaceholder(kind, fingerprint(text.slice(start, end)))
    at = end
  }
  return out + text.slice(at)
}
