import { isScrambled } from './checks.ts'
import {
  HANDED,
  IS_THE_BEGUN,
  isNamedBehind,
  kindIn,
  kindOfCode,
  kindOfPhrase,
  TAKES_PAIR,
} from './kind-in-line.ts'
import { eachName } from './naming.ts'
import { isPassphrase, isShortPhrase } from './passphrase.ts'
import { formOf, isKeypadCode } from './secret-words.ts'
import type { Finder, Span } from './spans.ts'

/**
 * A word that looks like a secret in the line that names one. How the line ties the two together is as different as people and
 * programs are, so the word has to be beyond doubt instead, and the stranger it is, the less is asked of the line.
 */

const IN_WORD = /[^\s"'`\\<>|(){}[\],;\u0080-\uffff]/
const WORD = new RegExp(`${IN_WORD.source}{4,}`, 'g')
/** All of these words have a digit, a sign that words do not have, or are several words in one: most prose has none of them. */
const DIGIT = /\d(?:(?=\S{3})|(?<=\S{4}))/
const SIGN = /[#*^](?<=[A-Za-z].)(?=\S)|[!%&=?@~$+](?<=[A-Za-z].)(?=\S{3})(?<=\S{4})/
const JOINED =
  /[-_.](?=[a-zA-Z]{3,12}[-_.][a-zA-Z]{3})(?:(?=[a-zA-Z]{3,12}[-_.][a-zA-Z]{3,12}[-_.][a-zA-Z]{3})|(?<=[a-z]{4}-)(?=[a-z]{4,10}-[a-z]{4}))/
const isStrange = (text: string): boolean => DIGIT.test(text) || JOINED.test(text) || SIGN.test(text)
/** Without a digit, and so in no order that its signs belong to it. */
const isScrambledWord = (word: string): boolean =>
  /[A-Za-z][!%&=?@~$+]/.test(word) && word.length <= 64 && isScrambled(word.replace(/[^A-Za-z]/g, ''))
const LONGEST_LINE = 160
const LONGEST_WORD = 1200
/** How much of the text behind a word has a say, and what it looks like while it has said nothing. */
const AFTER = 80
/** So much tells that a word is handed over. */
const BEFORE = 16
const UNDECIDED = /^["'`”“»)*_]{0,4}(?:$|[ ,(=#–—\]};|<←/-])[^.:\r\n]*$/

/** The next sentence is about something else, unless it goes on with "it" or says what to do. */
const NEW_SENTENCE =
  /[.!?](?=["')]?\s+(?!(?:it|its|it's|here|use|try|es|er|sie|c'est|il|elle|lo|la|è|hier|nimm|это|он)[ :'])\p{L})|[。！？]/giu

/** "Forgot the password? No :) It is …". */
const SAYS_IT =
  /[.!?)] {1,2}(?:it(?:['’]s| is| was)|es (?:ist|lautet|heißt)|c['’]est|er (?:ist|lautet)|é|è)(?: now| jetzt)?:? ["'`„“«]?$/i

function lineBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - LONGEST_LINE), at)
  const cut = Math.max(before.lastIndexOf('\n') + 1, before.lastIndexOf('\r') + 1, escapedEnd(before))
  const line = before.slice(cut)
  if (SAYS_IT.test(line)) return line
  let start = 0
  for (const match of line.matchAll(NEW_SENTENCE)) start = match.index + 1
  return line.slice(start)
}
const escapedEnd = (before: string): number => {
  const at = before.lastIndexOf('\\n')
  return at < 0 ? 0 : at + 2
}

/** `name:word`, `name/word` and `(word).` without what belongs to the line. */
function trim(text: string, from: number, raw: string): { start: number; word: string } {
  let start = from
  let word = raw
  if (text[start - 1] === '\\' && /^[bfnrt]/.test(word)) [start, word] = [start + 1, word.slice(1)]
  const lead =
    /^(?:[*_]{1,3}|[:=]{1,2}|#(?=\d{4,8}$)|(?=[\d.-]*[A-Za-z])[\w.@-]{1,24}[:=](?!\/\/)|-{1,2}(?=[A-Za-z0-9]{8}))/.exec(
      word,
    )?.[0] ?? ''
  const isClock = /^\d{1,2}:\d\d/.test(word)
  if (lead !== '' && !isClock && !isScrambledWord(word))
    [start, word] = [start + lead.length, word.slice(lead.length)]
  return { start, word: word.replace(/(?:[.,:?]|\*\*|__)+$|(?<=^\d{4,10})[#*]$/, '') }
}

/** The words around each name. What was looked at from before a name on is not looked at again. */
function eachNear(text: string, visit: (span: Span) => boolean): void {
  if (!isStrange(text)) return
  let done = 0
  eachName(text, (at, reach) => {
    const to = lineEnd(text, at, Math.min(text.length, at + reach.behind))
    if (to <= done) return false
    const from = wordStart(text, lineStart(text, at, Math.max(done, at - reach.before)), done)
    const part = text.slice(from, wordEnd(text, to))
    const isNamed = reach.before > 0
    if (isNamed) done = to
    WORD.lastIndex = 0
    for (let match = WORD.exec(part); match !== null && match.index < to - from; match = WORD.exec(part)) {
      if (isNamed) done = Math.max(done, from + WORD.lastIndex)
      // What stands before the name is a secret only where the text behind it says so.
      const span = judge(text, from + match.index, match[0], isNamed, from + WORD.lastIndex <= at)
      if (span && visit(span)) return true
    }
    return false
  })
}

/** The end of the line at `at`, or `most`. */
function lineEnd(text: string, at: number, most: number): number {
  let end = at
  while (end < most && text.charCodeAt(end) !== 10) end++
  return end
}
function lineStart(text: string, at: number, least: number): number {
  let start = at
  while (start > least && text.charCodeAt(start - 1) !== 10) start--
  return start
}
/** A word that is cut in two would be another one. */
function wordStart(text: string, at: number, least: number): number {
  const first = Math.max(least, at - LONGEST_WORD)
  let start = at
  while (start > first && IN_WORD.test(text.charAt(start - 1))) start--
  return start
}

function wordEnd(text: string, at: number): number {
  const last = Math.min(text.length, at + LONGEST_WORD + 1)
  let end = at
  while (end < last && IN_WORD.test(text.charAt(end))) end++
  return end
}

/** `admin/…` behind a word that takes both, without the user. */
function unpaired(text: string, found: { start: number; word: string }): { start: number; word: string } {
  const pair = /^([\w.@-]{1,24}\/)([^/]{8,64})$/.exec(found.word)
  if (pair === null) return found
  const [, user = '', word = ''] = pair
  const form = formOf(word)
  return (form === 'chosen' || form === 'drawn' || form === 'weak') &&
    TAKES_PAIR.test(lineBefore(text, found.start))
    ? { start: found.start + user.length, word }
    : found
}

/** In a listing of secrets that shows what was made of them: the head of the column says so. */
const isDigest = (text: string, start: number): boolean =>
  /^\s*\S+ {2,}$/.test(lineBefore(text, start)) &&
  /(?<![A-Za-z])(?:DIGEST|CHECKSUM|FINGERPRINT|HASH|VERSION)(?![A-Za-z])[^\r\n]*(?:\n|\\n)/i.test(
    text.slice(Math.max(0, start - LONGEST_LISTING), start),
  )
const LONGEST_LISTING = 800

/** Numbers are typed in the place of something that is named; behind a user they are anything. */
function judge(
  text: string,
  from: number,
  raw: string,
  isNamed: boolean,
  isBefore: boolean,
): Span | undefined {
  if (raw.length > LONGEST_WORD) return undefined
  const isStrong = /\d|[A-Za-z][#*^]/.test(raw) || isScrambledWord(raw)
  if (!isStrong && !/(?:[-._][a-zA-Z]{3,12}){2}/.test(raw)) return undefined
  const { start, word } = unpaired(text, trim(text, from, raw))
  const form = isStrong || isPassphrase(word) ? formOf(word) : undefined
  const end = start + word.length
  if (isBefore && !isNamedBehind(text.slice(end, end + AFTER))) return undefined
  if (form === undefined && isShortPhrase(word)) {
    const told = kindOfPhrase(lineBefore(text, start), text.slice(end, end + AFTER))
    return told === undefined ? undefined : { start, end, kind: told }
  }
  if (isNamed && isKeypadCode(word)) {
    const told = kindOfCode(lineBefore(text, start))
    if (told !== undefined) return { start, end, kind: told }
  }
  if (form === undefined || (form === 'digits' && !isNamed)) return undefined
  if (form === 'plain' && isDigest(text, start)) return undefined
  const kind = kindIn(lineBefore(text, start), text.slice(end, end + AFTER), word, form)
  return kind === undefined ? undefined : { start, end, kind }
}

export const nearName: Finder = {
  needs: /\d|[A-Za-z][#*^!%&=?@~$+]|[A-Za-z]{3}[-_.][A-Za-z]{3}/,
  mayFind(text) {
    let found = false
    eachNear(text, () => (found = true))
    return found
  },
  find(text) {
    const spans: Span[] = []
    eachNear(text, (span) => {
      spans.push(span)
      return false
    })
    return spans
  },
  open(text, from) {
    const first = wordStart(text, Math.max(from, text.length - AFTER - 80), 0)
    for (const match of text.slice(first).matchAll(WORD)) {
      const { start, word } = trim(text, first + match.index, match[0])
      const after = text.slice(start + word.length)
      if (start + word.length <= from || after.length >= AFTER) continue
      const before = text.slice(Math.max(0, start - BEFORE), start)
      if (IS_THE_BEGUN.test(after) && formOf(word) === 'weak') return Math.max(start, from)
      if (
        UNDECIDED.test(after) &&
        (formOf(word) === 'chosen' || before.endsWith(' / ') || HANDED.test(before))
      )
        return Math.max(start, from)
    }
    return text.length
  },
}
