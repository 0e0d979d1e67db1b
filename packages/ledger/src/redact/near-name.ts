import { isIdName } from './long-runs.ts'
import { eachName } from './naming.ts'
import { isPassphrase, isShortPhrase } from './passphrase.ts'
import {
  lastDigitName,
  lastGroupedName,
  lastKeyName,
  lastMaker,
  lastPassword,
  PASSWORD_BEHIND,
} from './secret-names.ts'
import { formOf, type WordForm } from './secret-words.ts'
import type { Finder, Span } from './spans.ts'

/**
 * A word that looks like a secret in the line that names one. How the line ties the two together is as different as people and
 * programs are, so the word has to be beyond doubt instead, and the stranger it is, the less is asked of the line.
 */

const IN_WORD = /[^\s"'`\\<>|(){}[\],;\u0080-\uffff]/
const WORD = new RegExp(`${IN_WORD.source}{4,}`, 'g')
/** All of these words have a digit, a sign that words do not have, or are several words in one: most prose has none of them. */
const DIGIT = /\d(?:(?=\S{3})|(?<=\S{4}))/
const SIGN = /[#*^](?<=[A-Za-z].)(?=\S)/
const JOINED =
  /[-_.](?=[a-zA-Z]{3,12}[-_.][a-zA-Z]{3})(?:(?=[a-zA-Z]{3,12}[-_.][a-zA-Z]{3,12}[-_.][a-zA-Z]{3})|(?<=[a-z]{4}-)(?=[a-z]{4,10}-[a-z]{4}))/
const isStrange = (text: string): boolean => DIGIT.test(text) || JOINED.test(text) || SIGN.test(text)
const LONGEST_LINE = 160
const LONGEST_WORD = 1200
/** How much of the text behind a word has a say, and what it looks like while it has said nothing. */
const AFTER = 80
const UNDECIDED = /^["'`”“»)*_]{0,4}(?:$|[ ,(=#–—\]};|<←/-])[^.:\r\n]*$/

/** What the word is said to be: it follows, or it is quoted or marked. */
const TIED =
  /(?:[:=：→>|…]|\.{3}|(?<=[- ])-|–|—|は|是|为|為|은|는)[ \t]{0,40}[*_]{0,2}\\{0,3}["'`“„«‘]?$|[ \t](?:(?:changed|rotated|reset|updated|switched|geändert|cambiada?) (?:from|von|de|da)|is|are|was|to|as|be|set|use|using|with|type|enter|try|first|ist|war|lautet|auf|sind|est|sont|es|son|era|è|é|sono|são|jest|je|är|este|olarak|adalah|là|это|равен)(?: now| set to| jetzt| maintenant| ahora)?:?[ \t]{1,3}[*_]{0,2}\\{0,3}["'`“„«‘]?$|\\{0,3}["'`“„«‘*][*]?$/i

/** The word before says that this is somebody or something, or an example. */
const OTHER =
  /(?:^|[\s("'`])(?:for|of|from|user(?:name)?|account|host|server|on|at|in|by|id|ids|no|nr|ref|ticket|issue|version|commit|branch|tag|file|line|port|e\.g\.|eg|i\.e\.|like|such as|example|ex\.|exemple|ejemplo|esempio|beispiel|z\.B\.|via|hash(?:ed)?|sha\d*|fingerprint|checksum|digest|regex|pattern|format|model|run|job|build|release|request|trace|session|für|von|vom|bei|pour|par|de|para|por|per|di|dla|для|от|username|benutzer(?:name)?|usuario|utilisateur|email|e-mail|mail|url|uri|arn|path|dir|kid|name|namens|called|policy|rule|must|min(?:imum)?|max(?:imum)?|least|only|requires?|contains?)[:=#]?\\?["'`*(]{0,3} ?$/i
/** A property of secrets, what is made of them, or code that is about them. */
const ABOUT =
  /(?:^|[\s_-])(?:hash(?:es|ed|ing)?|digest|checksum|policy|regexp?|pattern|entropy|length|strength|fingerprint|example|e\.g\.|must|at least|contains?|contenir|contener|enthalten|содержать|algorithm|rounds|salt(?:ed)?|bcrypt|argon2\w*|scrypt|pbkdf2\w*)(?![A-Za-z])|(?:_|-)?(?:id|ids|name|count|limit|usage|budget|type|field|input|policy|hash|url|uri|file|path|arn|ref|version)\b["'`]?\s{0,3}[:=]|=>|\(\)|;\s*$|&&|\|\||(?:^|\s)(?:if|return|const|let|var|import|function|class|def)\s/i
/** Another name and another value, as JSON has them. */
const OTHERS = /[{}]|["'`],|["'`]\\{0,3}:[^]*["'`]\\{0,3}:/
const NAMED = /([A-Za-z][\w.-]*)\\{0,3}["'`]?(?: {0,2}[:=] {0,2}| )[\\"'`*]{0,5}$/
/** The digest of a secret in Helm, its address in AWS, the key with which git signs. */
const NAMED_ONLY = /(?:checksum\/[\w-]{0,40}:? ?|arn:[^\s"']{0,100})$|signing-?key["']? ?[:=]? ?["']?$/i

/** Whether what stands between the name and the word leaves them together. */
const isNear = (rest: string, most: number): boolean =>
  rest.length < 9 && !/\w/.test(rest)
    ? true
    : wordsIn(rest) <= most &&
      !/^[_-]\w|^[A-Z]/.test(rest) &&
      !/(?<!value|content)(?<=\w)=\\{0,3}["'`]?$/.test(rest) &&
      !ABOUT.test(rest) &&
      !OTHERS.test(rest)
const wordsIn = (text: string): number => text.match(/[^\s]+/g)?.length ?? 0
/** The next sentence is about something else, unless it goes on with "it" or says what to do. */
const NEW_SENTENCE =
  /[.!?](?=["')]?\s+(?!(?:it|its|it's|here|use|try|es|er|sie|c'est|il|elle|lo|la|è|hier|nimm|это|он)[ :'])\p{L})|[。！？]/giu

function lineBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - LONGEST_LINE), at)
  const cut = Math.max(before.lastIndexOf('\n') + 1, before.lastIndexOf('\r') + 1, escapedEnd(before))
  const line = before.slice(cut)
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
  if (lead !== '' && !isClock) [start, word] = [start + lead.length, word.slice(lead.length)]
  return { start, word: word.replace(/(?:[.,:?]|\*\*|__)+$/, '') }
}

/** Nothing but signs, and the words by which a device or a command says how it is written down. */
const ADJACENT =
  /^[^\w]{0,24}(?:(?:\d|--?[a-z]{2,12}|cipher|irreversible-cipher|plain(?:text)?|clear(?:text)?|encrypted|ENC|ascii(?:-text)?|hex|md5|sha|string|simple|value|line|text|new|password)[^\w\r\n]{1,12}){0,3}$/i
/** `ENV.fetch("DB_PASS") { "`, `getenv('DB_PASS') ?: '`. */
const FALLBACK =
  /^\\{0,3}["'`][)\]]{0,2}\s{0,2}(?:\|\||\?\?|\?:|or|else|,|\{|do|\.\w{2,20}\(\|{0,2})[\s({]{0,4}[a-z&@]?\\{0,3}["'`]$/

const ID = /(?:^|[^a-z])(?:ids?|uid|guid|kid|hash|digest|checksum|fingerprint|nonce|etag|commit|sha\d*)$/i
const LOGS_IN =
  /(?:^|[\s$;&`])[a-z][\w.-]{1,20}(?: [a-z-]{2,12})? (?:login|auth|authenticate|activate|authtoken|add-authtoken|set-token|signin)(?: --?[a-z-]{1,16})? "?$/

/** `-p …` of any command, and a user whom everybody has. */
const PASSWORD_FLAG = /\s-(?:p|P|w|pw|pass) \\{0,3}["']?$/
const TOKEN_FLAG = /\s-(?:t|k|token|key) \\{0,3}["']?$/
const KNOWN_USER =
  /(?:^|[\s("'`,])(?:root|admin\w*|sa|postgres|ubuntu|pi|test\w*|guest|demo|deploy\w*|jenkins|svc[\w-]*|user\d*|ec2-user|oracle|mysql|operator|qa[\w-]*)(?:@[\w.-]+)?["'`]?(?: ?[/:] ?| )["'`]?$/i

/** A name and a password with a slash between them, or behind a word that takes both. */
const SLASHED =
  /(?:wi-?fi|wlan|ssid|hotspot|logins?|user(?:name)?|creds|credentials|account|pass(?:word|wd)?|pw)(?![a-z])[^\r\n/]{1,40} \/ ["'`]?$/i
const AUTH_PAIR =
  /(?:stats auth|(?:basic|proxy)[-_ ]?auth|--auth|userpass)[ =]["'`]?[\w.@-]{1,40}[: ]["'`]?$/i
const ADMIN = /(?:^|[\s("'`,])(?:root|admin|administrator|sa|postgres)[:/]$/
const CAPITALS = /^(?:[A-Z][a-z]{3,}){2,3}\d{2,4}[!#]?$/
const USER_FLAG = /\s-u(?:ser(?:name)?)?[ =]\S+ (?:\S+ )?-p(?:ass(?:word)?)? \\{0,3}["']?$/
/** `[ { accounts: ["0x…"] } ]` of a wallet, `KEY_ID / …`. */
const WALLET = /accounts["']?: ?\[ ?["']?$/
const PAIR = /^[\w-]*\d[\w-]{9,} \/ $/
const isOfMaker = (before: string): boolean => {
  const maker = lastMaker(before)
  return (
    WALLET.test(before) ||
    (before.endsWith(' / ') && PAIR.test(before.slice(before.lastIndexOf(' ', before.length - 4) + 1))) ||
    (maker !== undefined && /^(?:[\s:=,"'`/-]|\b(?:is|key|\w{1,16}(?=:)))*$/i.test(maker.rest))
  )
}

function kindOfDigits(line: string): string | undefined {
  const before = line.replace(/#$/, '')
  const isTied = TIED.test(before)
  const pin = lastDigitName(before)
  if (pin && !/(?:^|[^A-Za-z])pin$/.test(pin.name) && /^[\s#:=]{1,4}$/.test(pin.rest)) return 'pin'
  if (isTied && pin && isNear(pin.rest, 8)) return 'pin'
  const password = lastPassword(before)
  if (password && /^\s{1,3}$/.test(password.rest) && /(?:pw|password|passcode)$/i.test(password.name))
    return 'password'
  return isTied && password && /[^s]$/.test(password.name) && isNear(password.rest, 2)
    ? 'password'
    : undefined
}

/** Three words that hyphens join are a name too, so what ties them to a password must be beyond doubt. */
const PHRASE_NAME =
  /(?:pass|pw|pwd|word|wort|phrase|woord|contrase|clave|senha|parol|hasł|heslo|senord|mdp|passe|парол|المرور|السر|الدخول)[a-zñаąеoyяи]{0,5}$/i
const SERVER_SECRET =
  /(?:^|[\s-])(?:masterauth|requirepass|r[ow]community6?|bind [^\r\n]{0,60}password|bind password) $/
function kindOfPhrase(before: string, after: string): string | undefined {
  if (SERVER_SECRET.test(before) || isPairBefore(before, after)) return 'password'
  const found = lastPassword(before)
  if (!found || !PHRASE_NAME.test(found.name) || !TIED.test(before)) return undefined
  if (/ (?:to|with|as|be|use|using|set)[ "'`]{1,3}$/.test(before)) return undefined
  return isNear(found.rest, 6) ? 'password' : undefined
}

/** "kim / … is the login". */
const IS_LOGIN =
  /^["'`]? (?:is|are|was) (?:the |my |your |our )?(?:[a-z]{2,12} )?(?:logins?|creds|credentials)(?![a-z])/
const isPairBefore = (before: string, after: string): boolean =>
  /(?:^|\s)[\w.@-]{2,40} \/ ["'`]?$/.test(before) && IS_LOGIN.test(after)

/** "first …, then …": the one before was a password. */
const SECOND =
  /(?:^|[\s"'`])([^\s"'`,]{6,64})["'`]?(?: as (?:the |a )?password)?, (?:and )?(?:then|dann|puis|luego|poi|afterwards) ["'`]?$/
const isSecond = (before: string): boolean => {
  const first = SECOND.exec(before)?.[1]
  const form = first === undefined ? undefined : formOf(first)
  return (form === 'weak' || form === 'chosen') && lastPassword(before) !== undefined
}

/** What a word is by its line. */
function kindIn(before: string, after: string, word: string, form: WordForm): string | undefined {
  if (NAMED_ONLY.test(before)) return undefined
  if (form === 'chosen' && PASSWORD_BEHIND.test(after)) return 'password'
  const isTied = TIED.test(before)
  const isNamed = (found: { readonly rest: string } | undefined, most: number): boolean =>
    found !== undefined &&
    (ADJACENT.test(found.rest) || FALLBACK.test(found.rest) || isNear(found.rest, most))
  if (form === 'digits') return kindOfDigits(before)
  if (form === 'chosen' && (PASSWORD_FLAG.test(before) || KNOWN_USER.test(before) || SLASHED.test(before)))
    return 'password'
  if (form === 'drawn' && TOKEN_FLAG.test(before)) return 'token'
  if (form === 'weak' && (USER_FLAG.test(before) || SLASHED.test(before))) return 'password'
  if (
    (form === 'weak' || form === 'chosen') &&
    (AUTH_PAIR.test(before) || isPairBefore(before, after) || isSecond(before))
  )
    return 'password'
  if (CAPITALS.test(word) && ADMIN.test(before)) return 'password'
  if ((form === 'drawn' || form === 'plain') && isOfMaker(before)) return 'api-key'
  if (form === 'grouped' && isNamed(lastGroupedName(before), 6)) return 'recovery-code'
  const id = NAMED.exec(before)?.[1]
  if (id !== undefined && (form === 'chosen' ? ID.test(id) : isIdName(id))) return undefined
  const password = lastPassword(before)
  const isAdjacent =
    password !== undefined && (ADJACENT.test(password.rest) || KNOWN_USER.test(password.rest))
  if (!isTied && !isAdjacent && OTHER.test(before)) return undefined
  if (password && (form === 'chosen' || form === 'drawn') && isNamed(password, 9)) return 'password'
  // `wandb login …`, `snyk auth …`.
  if (form === 'plain' && LOGS_IN.test(before)) return 'token'
  if (password && form === 'plain' && ADJACENT.test(password.rest)) return 'password'
  // "the password to server01".
  if (form === 'weak' && / (?:to|with|as|be)[ "'`]{1,3}$/.test(before)) return undefined
  if (password && form === 'weak' && (isAdjacent || (isTied && isNamed(password, 6)))) return 'password'
  if (form === 'weak' || (form === 'chosen' && word.length < 16)) return undefined
  if (form === 'grouped' && !/^[A-Z0-9]+(?:-[A-Z0-9]+){2,}$/.test(word)) return undefined
  const key = lastKeyName(before)
  if (!key || !isNamed(key, isTied ? 9 : 6)) return undefined
  const isSure = isTied || ADJACENT.test(key.rest) || (/key[12]$/.test(key.name) && word.length > 40)
  if (!isSure && (form === 'plain' || /(?:^|[^a-z])key[12]?$/i.test(key.name))) return undefined
  return /token/i.test(key.name) ? 'token' : 'api-key'
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
      const span = judge(text, from + match.index, match[0], isNamed)
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

/** Numbers are typed in the place of something that is named; behind a user they are anything. */
function judge(text: string, from: number, raw: string, isNamed: boolean): Span | undefined {
  if (raw.length > LONGEST_WORD || !/\d|[A-Za-z][#*^]|(?:[-._][a-zA-Z]{3,12}){2}/.test(raw)) return undefined
  const { start, word } = trim(text, from, raw)
  const form = /\d|[A-Za-z][#*^]/.test(raw) || isPassphrase(word) ? formOf(word) : undefined
  const end = start + word.length
  if (form === undefined && isShortPhrase(word)) {
    const told = kindOfPhrase(lineBefore(text, start), text.slice(end, end + AFTER))
    return told === undefined ? undefined : { start, end, kind: told }
  }
  if (form === undefined || (form === 'digits' && !isNamed)) return undefined
  const kind = kindIn(lineBefore(text, start), text.slice(end, end + AFTER), word, form)
  return kind === undefined ? undefined : { start, end, kind }
}

export const nearName: Finder = {
  needs: /\d|[A-Za-z][#*^]|[A-Za-z]{3}[-_.][A-Za-z]{3}/,
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
      if (UNDECIDED.test(after) && (formOf(word) === 'chosen' || text.slice(0, start).endsWith(' / ')))
        return Math.max(start, from)
    }
    return text.length
  },
}
