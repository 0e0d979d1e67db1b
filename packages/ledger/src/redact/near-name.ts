import { isLedTo, kindAsked } from './asked.ts'
import { isMixed, isScrambled } from './checks.ts'
import {
  HANDED,
  isApposed,
  IS_THE_BEGUN,
  isNamedBehind,
  kindIn,
  kindOfCode,
  kindOfPhrase,
  TAKES_PAIR,
} from './kind-in-line.ts'
import { fold } from './fold.ts'
import { eachName } from './naming.ts'
import { isPassphrase, isShortPhrase } from './passphrase.ts'
import { isSaidJoined } from './plain-words.ts'
import { formOf, isKeypadCode, type WordForm } from './secret-words.ts'
import type { Finder, Span } from './spans.ts'

/**
 * A word that looks like a secret in the line that names one. How the line ties the two together is as different as people and
 * programs are, so the word has to be beyond doubt instead, and the stranger it is, the less is asked of the line.
 */

const IN_WORD = /[^\s"'`\\<>|(){}[\],;\u0080-\u00bf\u0250-\uffff]/
const WORD = new RegExp(`${IN_WORD.source}{4,}`, 'g')
/** All of these words have a digit, a sign that words do not have, or are several words in one: most prose has none of them. */
const DIGIT = /\d(?:(?=\S{3})|(?<=\S{4}))/
const SIGN = /[#*^](?<=[A-Za-z].)(?=\S)|[!%&=?@~$+](?<=[A-Za-z].)(?=\S{3})(?<=\S{4})/
const JOINED = /[-_.](?=[a-zA-Z\u00c0-\u024f]{2})(?<=[a-zA-Z\u00c0-\u024f]{2}.)/
const isStrange = (text: string): boolean => DIGIT.test(text) || JOINED.test(text) || SIGN.test(text)
/** Without a digit, and so in no order that its signs belong to it. */
const isScrambledWord = (word: string): boolean =>
  /[A-Za-z][!%&=?@~$+]/.test(word) && word.length <= 64 && isScrambled(word.replace(/[^A-Za-z]/g, ''))
/** The digest of a package or of a key, with the name of the way it was made; a version of Debian; the ranges of a pattern. */
const DIGEST = /^(?:h1|sha\d{1,3}|md5)[:-]|^\d:\d+\.|^(?:a-z|0-9|a-f){2}/i
/** The id of a thing has such a form as well, unless the line tells it as a token. */
const MADE = /^[a-z]{2,4}_(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z])[A-Za-z0-9]{28,80}$/
const TOLD = /(?<![a-z])(?:token|api[ _-]?key|secret|pat)(?![a-z])[^\r\n]{0,60}[:=]\s{0,2}["'`]?$/i
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

/** "Forgot the password? No :) It is …", "Rotate the PSK. The old one was …". */
const SAYS_IT =
  /[.!?)] {1,2}(?:no, )?(?:(?:it|(?:the )?(?:old|new|current|previous|actual|real|right|correct) one)(?:['’]s| is| was)|es (?:ist|lautet|heißt)|(?:old|new|previous|alt|neu|ancien|nouveau|anterior|nueva|nova|vecchia|nuova|oud|nieuw|stare|nowe)(?:: \S{4,64}[,;] (?:new|now|neu|nouveau|nueva|nova|nuova|nieuw|nowe))?(?=: )|das (?:alte|neue) (?:ist|war|lautet)|c['’]est|l['’]ancien était|er (?:ist|lautet)|é|è)(?: now| jetzt)?:? ["'`„“«]?$/i

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
  return { start, word: word.replace(/(?:(?<=^\d{4,10})[#*])?(?:[.,:?]|\*\*|__)*$/, '') }
}

/** The words around each name. What was looked at from before a name on is not looked at again. */
function eachNear(text: string, visit: (span: Span) => boolean): void {
  if (!isStrange(text)) return
  let done = 0
  eachName(text, (at, reach) => {
    const most = Math.min(text.length, at + reach.behind)
    const to = answerEnd(text, lineEnd(text, at, most), most)
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
/** The line of a question goes on with its answer, above which may stand who speaks. */
function answerEnd(text: string, end: number, most: number): number {
  if (text.charCodeAt(end) !== 10 || !/[?a-z]["' )]{0,2}$/.test(text.slice(end - 3, end))) return end
  const next = lineEnd(text, end + 1, most)
  return next < most ? lineEnd(text, next + 1, most) : next
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
  /^\s*\S+(?: {2,}|: )$/.test(lineBefore(text, start)) &&
  /(?<![A-Za-z])(?:DIGEST|CHECKSUMS?|FINGERPRINT|HASH|VERSION)(?![A-Za-z])[^\r\n]*(?:\n|\\n)/i.test(
    text.slice(Math.max(0, start - LONGEST_LISTING), start),
  )
const LONGEST_LISTING = 800

const ANSWERS: ReadonlySet<WordForm> = new Set(['chosen', 'weak', 'faint', 'drawn', 'plain', 'digits'])

/** Numbers are typed in the place of something that is named; behind a user they are anything. */
function judge(
  text: string,
  from: number,
  raw: string,
  isNamed: boolean,
  isBefore: boolean,
): Span | undefined {
  if (raw.length > LONGEST_WORD || DIGEST.test(raw)) return undefined
  const isStrong = /\d|[A-Za-z][#*^]/.test(raw) || isScrambledWord(raw)
  if (!isStrong && !/[-._&+!%][a-zA-Z\u00c0-\u024f]/.test(raw)) return undefined
  const { start, word } = unpaired(text, trim(text, from, raw))
  const form = isStrong || isPassphrase(fold(word)) || isSaidJoined(fold(word)) ? formOf(word) : undefined
  const end = start + word.length
  // A function, or what a class of keys is called.
  if (
    (text[end] === '(' && /^[A-Za-z_]\w*$/.test(word)) ||
    /^[A-Za-z]\w*(?:[a-z]Key|Token|Secret|Password)$/.test(word)
  )
    return undefined
  if (
    form === undefined &&
    isMixed(word) &&
    isApposed(text.slice(start - BEFORE, start), text.slice(end, end + AFTER))
  )
    return { start, end, kind: 'password' }
  if (isBefore && !isNamedBehind(text.slice(end, end + AFTER))) return undefined
  if (form === undefined && MADE.test(word) && TOLD.test(lineBefore(text, start)))
    return { start, end, kind: 'token' }
  if ((form === undefined || form === 'faint') && isShortPhrase(fold(word))) {
    const told = kindOfPhrase(lineBefore(text, start), text.slice(end, end + AFTER))
    if (told !== undefined) return { start, end, kind: told }
    if (form === undefined) return undefined
  }
  if (isNamed && isKeypadCode(word)) {
    const told = kindOfCode(lineBefore(text, start))
    if (told !== undefined) return { start, end, kind: told }
  }
  if (form === undefined || (form === 'digits' && !isNamed)) return undefined
  if (ANSWERS.has(form)) {
    const told = kindAsked(text, start, end, form)
    if (told !== undefined) return { start, end, kind: told }
  }
  if (form === 'plain' && (isDigest(text, start) || /^\{.*\}$/.test(text.slice(start - 1, end + 1))))
    return undefined
  const kind = kindIn(lineBefore(text, start), text.slice(end, end + AFTER), word, form)
  return kind === undefined ? undefined : { start, end, kind }
}

export const nearName: Finder = {
  needs: /\d|[A-Za-z][#*^!%&=?@~$+]|[a-zA-Z\u00c0-\u024f]{2}[-_.][a-zA-Z\u00c0-\u024f]/,
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
    WORD.lastIndex = 0
    for (const match of text.slice(first).matchAll(WORD)) {
      const { start, word } = trim(text, first + match.index, match[0])
      const after = text.slice(start + word.length)
      if (start + word.length <= from || after.length >= AFTER) continue
      const before = text.slice(Math.max(0, start - BEFORE), start)
      if ((IS_THE_BEGUN.test(after) && formOf(word) === 'weak') || isLedTo(text, start, after))
        return Math.max(start, from)
      if (
        UNDECIDED.test(after) &&
        (formOf(word) === 'chosen' || before.endsWith(' / ') || HANDED.test(before))
      )
        return Math.max(start, from)
    }
    return text.length
  },
}
