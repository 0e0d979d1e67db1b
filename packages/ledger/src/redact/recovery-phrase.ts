import { isLetter, isListed } from './recovery-words.ts'
import { warmed } from './detector.ts'
import type { Finder, Span } from './spans.ts'

/** Phrases have 12, 15, 18, 21 or 24 words, and others of the list may stand beside them. */
const WORDS = 12
/** What has fewer different ones is the same said again and again. */
const DIFFERENT = 8
const LONGEST_WORD = 8
/** One phrase in three hundred is shorter. */
const LENGTH = 64
/** Between two words: spaces, a comma, a number in a list. Digits, dots, hyphens and underscores alone make one word of two. */
const GAP = 8
const [APART, JOINT] = [1, 2]
const IN_GAP = new Uint8Array(128)
for (const char of ' \n\r\t,\\|*') IN_GAP[char.charCodeAt(0)] = APART
for (const char of '0123456789-_.)') IN_GAP[char.charCodeAt(0)] = JOINT

/** A phrase begins its text, or it stands behind a sign or behind its number in a list: else all prose had to be looked up. */
const SIGN = '[|>:,="\'`(\\[.)\\n\\t\\\\]'
const BEGINS = new RegExp(`(?:^|${SIGN}) {0,3}$|\\\\[nrt]$`)
/** Twelve words as long as those of the list rule out nearly all prose. An escaped line end is read in one way only. */
const TWELVE = '(?:[A-Za-z]{3,8}(?:\\\\[nrt]|\\\\(?![nrt])|[ ,.)\\d|*\\s_-]){1,16}){11}[A-Za-z]{3}'
const FIRST = new RegExp(`^ {0,3}(?=${TWELVE})`, 'g')
const LATER = warmed(new RegExp(`${SIGN}(?=(?:(?<=\\\\)[nrt])? {0,3}${TWELVE})`, 'g'))

/** The letters of `\n`, `\r` and `\t` in an escaped text belong to no word. */
const isEscape = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return (code === 110 || code === 114 || code === 116) && at > 0 && text.charCodeAt(at - 1) === 92
}
const inWord = (text: string, at: number): boolean => isLetter(text.charCodeAt(at)) && !isEscape(text, at)

function startOf(text: string, at: number): number {
  let start = at
  while (start > 0 && inWord(text, start - 1)) start--
  return start
}

function endOf(text: string, at: number): number {
  let end = at
  while (end < text.length && isLetter(text.charCodeAt(end))) end++
  return end
}

/** Where the next word begins, or -1 when it is too far away, or so near that both are parts of one. */
function nextStart(text: string, end: number): number {
  let apart = false
  for (let at = end; at < text.length && at <= end + GAP; at++) {
    if (inWord(text, at)) return apart ? at : -1
    const sort = IN_GAP[text.charCodeAt(at)]
    if (sort === APART) apart = true
    else if (sort !== JOINT && !isEscape(text, at)) return -1
  }
  return -1
}

/** The same backwards: where the word before ends. */
function endBefore(text: string, start: number): number {
  let apart = false
  for (let at = start - 1; at >= 0 && at >= start - 1 - GAP; at--) {
    if (inWord(text, at)) return apart ? at + 1 : -1
    const sort = IN_GAP[text.charCodeAt(at)]
    if (sort === APART) apart = true
    else if (sort !== JOINT && !isEscape(text, at)) return -1
  }
  return -1
}

const isWord = (text: string, start: number, end: number): boolean =>
  end - start <= LONGEST_WORD && isListed(text, start)

/** The words of the list that follow each other from `start` on, as the places where they begin and end. */
function wordsFrom(text: string, start: number): [start: number, end: number][] {
  const words: [number, number][] = []
  for (let at = start; at >= 0; ) {
    const end = endOf(text, at)
    if (!isWord(text, at, end)) break
    words.push([at, end])
    at = nextStart(text, end)
  }
  return words
}

const isBegin = (text: string, start: number): boolean =>
  BEGINS.test(text.slice(Math.max(0, start - 12), start))

function find(text: string): Span[] {
  const spans: Span[] = []
  for (let at = 0; at < text.length; ) {
    if (!inWord(text, at)) {
      at++
      continue
    }
    const run = wordsFrom(text, at)
    const end = run.at(-1)?.[1] ?? endOf(text, at)
    const words = run.slice(run.findIndex(([start]) => isBegin(text, start)))
    const start = words[0]?.[0] ?? at
    const different = new Set(words.map(([from, to]) => text.slice(from, to))).size
    if (isBegin(text, start) && end - start >= LENGTH && words.length >= WORDS && different >= DIFFERENT)
      spans.push({ start, end, kind: 'recovery-phrase' })
    at = end
  }
  return spans
}

const mayFind = (text: string): boolean =>
  text.length >= LENGTH && (isFound(text, LATER) || isFound(text, FIRST))

function isFound(text: string, pattern: RegExp): boolean {
  pattern.lastIndex = 0
  while (pattern.test(text)) {
    const start = pattern.lastIndex
    let at = start
    while (!inWord(text, at)) at++
    const words = wordsFrom(text, at)
    if (words.length >= WORDS) return true
    // Nothing is looked at twice, or a long list of words would take long.
    pattern.lastIndex = Math.max(start + 1, (words.at(-1)?.[1] ?? 0) - 1)
  }
  return false
}

/** Where a phrase may have begun with which the text ends, since more words may come. */
function open(text: string, from: number): number {
  let first = text.length
  let end = first
  // The last word may become one of the list.
  if (end > 0 && inWord(text, end - 1)) end = endBefore(text, startOf(text, end - 1))
  else while (end > from && end > text.length - GAP && !inWord(text, end - 1)) end--
  while (end > from) {
    const start = startOf(text, end - 1)
    if (start < from || !isWord(text, start, end)) break
    if (isBegin(text, start)) first = start
    end = endBefore(text, start)
  }
  return first
}

export const recoveryPhrases: Finder = { mayFind, find, open }
