import { type Phrase, SEARCH_FIELDS, type SearchField } from './search-index.ts'
import { type Token, tokenize } from './tokens.ts'

/** A piece of text with the places of the words that were found: start and end, in characters of `text`. */
export interface Highlight {
  readonly field: SearchField
  readonly text: string
  readonly marks: readonly (readonly [start: number, end: number])[]
}

const AROUND = 60
const MAX_EXCERPT_CHARS = 160

/** Index of a phrase's first word in a list of words, or -1. */
export function findPhrase(words: readonly string[], { tokens, prefix }: Phrase, from = 0): number {
  const last = tokens.length - 1
  for (let at = from; at + last < words.length; at++) {
    let fits = true
    for (let i = 0; i <= last && fits; i++) {
      const word = words[at + i] as string
      const wanted = tokens[i] as string
      fits = i === last && prefix ? word.startsWith(wanted) : word === wanted
    }
    if (fits) return at
  }
  return -1
}

/** The first place of an event's texts where one of the phrases stands; undefined when none does. */
export function highlight(
  texts: Readonly<Record<SearchField, string>>,
  phrases: readonly Phrase[],
): Highlight | undefined {
  for (const field of SEARCH_FIELDS) {
    const found = texts[field] === '' ? undefined : highlightField(field, texts[field], phrases)
    if (found) return found
  }
  return undefined
}

function highlightField(field: SearchField, text: string, phrases: readonly Phrase[]): Highlight | undefined {
  const tokens = tokenize(text)
  const words = tokens.map((token) => token.text)
  const firsts = phrases.map((phrase) => findPhrase(words, phrase)).filter((at) => at >= 0)
  if (firsts.length === 0) return undefined
  const first = tokens[Math.min(...firsts)] as Token
  const start = backToSpace(text, Math.max(0, first.start - AROUND))
  const end = Math.min(text.length, start + MAX_EXCERPT_CHARS)
  const marks: [number, number][] = []
  for (const phrase of phrases)
    for (let at = findPhrase(words, phrase); at >= 0; at = findPhrase(words, phrase, at + 1)) {
      const from = (tokens[at] as Token).start
      const to = (tokens[at + phrase.tokens.length - 1] as Token).end
      if (from >= end) break
      if (from >= start && to <= end) marks.push([from - start, to - start])
    }
  return { field, text: text.slice(start, end), marks: withoutOverlap(marks) }
}

function backToSpace(text: string, at: number): number {
  for (let i = at; i > Math.max(0, at - 20); i--) if (/\s/.test(text[i - 1] as string)) return i
  return at
}

function withoutOverlap(marks: readonly [number, number][]): [number, number][] {
  const sorted = marks.toSorted((a, b) => a[0] - b[0] || b[1] - a[1])
  const kept: [number, number][] = []
  for (const mark of sorted) if (mark[0] >= (kept.at(-1)?.[1] ?? 0)) kept.push(mark)
  return kept
}
