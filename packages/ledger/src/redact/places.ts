import { canBeSecret, type Place } from './judge-value.ts'

/** What a name promises: the kind of secret, and what its value must look like. */
export interface SecretName extends Place {
  readonly kind: string
}

const password: SecretName = { kind: 'password', least: 6, random: false }
const token: SecretName = { kind: 'token', least: 16, random: true, isNoUuid: true }
/** Tokens of a protocol, which may have any form. */
const accessToken: SecretName = { kind: 'token', least: 16, random: true }
const secret: SecretName = { kind: 'secret', least: 12, random: true }
const apiKey: SecretName = { kind: 'api-key', least: 12, random: true }
/** Headers hold nothing but credentials, so what they carry need not look generated. */
const authorization: SecretName = { kind: 'authorization', least: 8, random: false }
const cookie: SecretName = { kind: 'cookie', least: 8, random: false }

const named = (name: SecretName, ...words: string[]) => words.map((each) => [each, name] as const)

/** Names of secrets in words; in a text they are joined by `_`, `-`, a space, nothing, or capitals. They may follow other words: `DB_PASSWORD`. */
const NAMES: readonly (readonly [words: string, name: SecretName])[] = [
  ...named(password, 'password', 'passwd', 'passphrase', 'passcode', 'pwd', 'pgpassword'),
  // A pass alone is also a pass of a renderer or a test.
  ...named(
    password,
    'db pass',
    'smtp pass',
    'mail pass',
    'user pass',
    'admin pass',
    'root pass',
    'ftp pass',
    'ssh pass',
  ),
  ...named(
    password,
    'redis pass',
    'mysql pass',
    'postgres pass',
    'mongo pass',
    'ldap pass',
    'auth pass',
    'email pass',
  ),
  ...named(
    accessToken,
    'auth token',
    'access token',
    'refresh token',
    'id token',
    'session token',
    'bot token',
    'jwt',
  ),
  ...named(token, 'token'),
  ...named(
    secret,
    'secret',
    'client secret',
    'app secret',
    'signing secret',
    'webhook secret',
    'shared secret',
  ),
  ...named(
    apiKey,
    'api key',
    'access key',
    'secret key',
    'secret access key',
    'secret key base',
    'private key',
    'auth key',
  ),
  ...named(apiKey, 'signing key', 'encryption key', 'master key', 'account key', 'service role key'),
  ...named(authorization, 'authorization'),
  ...named(cookie, 'cookie'),
]

/** Every spelling of every name, in small letters. */
export const SPELLINGS: ReadonlyMap<string, SecretName> = new Map(
  NAMES.flatMap(([words, name]) =>
    [...new Set(['', '_', '-', ' '].map((joint) => words.replaceAll(' ', joint)))].map(
      (text) => [text, name] as const,
    ),
  ),
)

/** Words before `token` that make it a place in a list, a part of a text or a public value. */
const OTHER_TOKEN =
  /(?:next|page|pagination|continuation|continue|sync|cursor|delta|skip|resume|change|watch|csrf|xsrf|public|key|progress|result|request|client|idempotency|scroll|query|cancellation|cancel|lock|sequence|purchase|update|stop|eos|bos|pad|unk|mask|sep|cls|special)[-_. ]?$/i

/** How far before a name its context is read. */
const LEFT = 96

const isWordCode = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)

/** Whether the name at `start` is a word of its own: `jsonwebtoken` and `nextPageToken` are none, `dbPassword` and `DB_PASSWORD` are. */
function isOwnWord(text: string, start: number, name: SecretName): boolean {
  const before = start === 0 ? 0 : text.charCodeAt(start - 1)
  if (isWordCode(before)) {
    const first = text.charCodeAt(start)
    const isHump = first >= 65 && first <= 90 && !(before >= 65 && before <= 90)
    if (!isHump) return false
  }
  const left = text.slice(Math.max(0, start - LEFT), start)
  if (name === token && OTHER_TOKEN.test(left.slice(-24))) return false
  // A placeholder that stands here already, `[redacted:token:…]`, or the name of a type, `AWS::IAM::AccessKey`.
  return !/(?:\[redacted:|::)[\w-]*$/.test(left)
}

const QUICK = /(?:word|wd|phrase|code|pass|secret|token|jwt|key|authorization|cookie)$/i

/** The name of a field in a value. */
export function secretField(field: string): SecretName | undefined {
  if (field.length > 128 || !QUICK.test(field)) return undefined
  const small = field.toLowerCase()
  for (const [spelling, name] of SPELLINGS)
    if (small.endsWith(spelling) && isOwnWord(field, field.length - spelling.length, name)) return name
  return undefined
}

export const isCardField = (field: string): boolean =>
  /(?:^|[^a-z])(?:credit|debit|bank)?[-_ ]?card[-_ ]?(?:no|num|number)?$|^(?:pan|cc[-_]?(?:no|num|number))$/i.test(
    field,
  )

/** Where the secrets of one assignment stand, in order. */
export interface FoundPlace {
  readonly start: number
  readonly end: number
}

export interface Assignment {
  readonly places: readonly FoundPlace[]
  /** The text ended before all was known. */
  readonly isOpen: boolean
  /** Up to here the header is read: a cookie named `cookie` begins no other. */
  readonly readTo?: number
}

const NONE: Assignment = { places: [], isOpen: false }
const OPEN: Assignment = { places: [], isOpen: true }
const MOST_VALUE = 4096

/** Between a name and its value: the end of its quotes or brackets, a type, `:` or `=`, and the value's opening quote. */
const SEPARATOR =
  /(?:\\{0,8}["'`])?\]?(?:\??:[ \t]{0,4}&?[A-Za-z][\w.<>?[\]]{1,40}(?=[ \t]{1,4}=[ \t]{0,4}[bBrRuU@]?["'`])|[ \t]{1,4}string(?=[ \t]{1,4}=))?[ \t]{0,40}(?::=|=>|=(?![=>~])|:(?![:=]))[ \t]{0,40}(?:\[[ \t]{0,4}(?=\\{0,8}["'`])|[bBrRuU@](?=["']))?(?<quote>\\{0,8}["'`])?/y
/** What a separator may begin with, while the text goes on. */
const UNFINISHED = /^\\{0,8}["'`]?\]?(?:\??:?[ \t]{0,4}&?[\w.<>?[\]]{0,41})?[ \t]{0,40}$/
const BARE = /[^\s"'`,;&|<>()[\]{}\\=:]{0,4096}(?:={1,2}(?![^\s"'`,;&]))?/y
/** The same where the value is all that is left of a line. */
const REST_OF_LINE = /(?:[^\s\\&;]|[&;](?![\w.-]{1,64}=)){0,4096}/y
const SCHEME = /(?:Bearer|Basic|Token|Digest|ApiKey|Api-Key|SSWS|Bot|Negotiate|AWS4-HMAC-SHA256)[ ]{1,2}/iy
/** What stands before a name that begins its line, also in a diff, in a list of matches or with the line's number. */
const LINE_START = /(?:\n|\\n)[ \t+>-]{0,16}(?:[\w./-]{1,64}:)?(?:\d{1,6}[ \t:|→]{1,4})?(?:export )?[\w.-]*$/
/** A name that begins a quoted `NAME=value`. */
const QUOTED_START = /(\\{0,8}["'`])[\w.-]*$/

/** The value behind the name that stands from `start` to `end`, if it is an assignment. */
export function findAssignment(text: string, start: number, end: number, name: SecretName): Assignment {
  const after = text.charCodeAt(end)
  if (isWordCode(after) || after === 95 || after === 45) return NONE
  if (!isOwnWord(text, start, name)) return NONE
  SEPARATOR.lastIndex = end
  const separator = SEPARATOR.exec(text)
  if (separator === null) return text.length <= end + 96 && UNFINISHED.test(text.slice(end)) ? OPEN : NONE
  const from = SEPARATOR.lastIndex
  const quote = separator.groups?.['quote']
  if (quote === undefined && name !== cookie) return findBare(text, start, from, separator[0], name)
  const until = quote === undefined ? lineEnd(text, from) : quotedEnd(text, from, quote)
  if (until < 0) return NONE
  const isOpen = until === text.length || (quote === undefined && until === from && isSlashed(text, until))
  if (name === cookie) return { places: findCookies(text, from, until), isOpen, readTo: until }
  return judged(text, name === authorization ? behindScheme(text, from, until) : from, until, name, isOpen)
}

function judged(text: string, start: number, end: number, place: SecretName, isOpen: boolean): Assignment {
  return { places: canBeSecret(text.slice(start, end), place) ? [{ start, end }] : [], isOpen }
}

/** A value without quotes. */
function findBare(
  text: string,
  start: number,
  from: number,
  separator: string,
  name: SecretName,
): Assignment {
  const begin = name === authorization ? behindScheme(text, from, text.length) : from
  const left = start <= LEFT ? `\n${text.slice(0, start)}` : text.slice(start - LEFT, start)
  const isLine = LINE_START.test(left)
  const isEmpty = /^\S*=[ \t]+$/.test(separator)
  // Part of a resource's name: `arn:aws:secretsmanager:eu:1:secret:name`.
  if (separator === ':' && /:[\w-]*$/.test(left)) return NONE
  const isDirectory = isLine && /^pwd\b/i.test(text.slice(start, start + 4))
  if (isEmpty || isDirectory) return from === text.length || isSlashed(text, from) ? OPEN : NONE
  if (separator === '=') {
    const [, quote] = QUOTED_START.exec(left) ?? []
    const end = quote === undefined ? -1 : quotedEnd(text, begin, quote)
    if (end >= 0 && !/[&;,\s]/.test(text.slice(begin, end)))
      return judged(text, begin, end, name, end === text.length)
  }
  if (isLine) {
    const end = runEnd(REST_OF_LINE, text, begin)
    if (end === text.length || /[\r\n\\]/.test(text[end] as string)) {
      const isOpen = end === text.length || isSlashed(text, end)
      // In code an argument or a property ends with one of these; elsewhere a bare word in `NAME=value` is no variable.
      let stop = end
      while (stop > begin && ',;)'.includes(text[stop - 1] as string)) stop--
      if (separator === '=' && stop === end) return judged(text, begin, end, name, isOpen)
      return judged(text, begin, stop, { ...name, bare: true }, isOpen)
    }
  }
  const isVariable = separator !== '=' || !(isLine || /[?&;][\w.-]*$/.test(left))
  const place = isVariable ? { ...name, bare: true } : name
  const end = runEnd(BARE, text, begin)
  // A bare value that goes on with a bracket is a call or an index, with a colon the prompt of a shell.
  if (/[([{:]/.test(text[end] ?? '')) return NONE
  const stop = isVariable ? trimmed(text, begin, end) : end
  return judged(text, begin, stop, place, end === text.length || isSlashed(text, end) || isType(text, end))
}

/** What looks like a value may be a type, `token: string = "…"`, as long as the text ends there. */
const isType = (text: string, at: number): boolean =>
  text.length - at <= 10 && /^[ \t]{0,4}(?:=[ \t]{0,4}[bBrRuU@]?)?$/.test(text.slice(at))

/** Nothing but backslashes up to the end, before which a quote may be yet to come. */
const isSlashed = (text: string, at: number): boolean => /^\\{1,8}$/.test(text.slice(at, at + 9))

/** Where a run of characters ends, by a sticky pattern that always matches. */
export function runEnd(run: RegExp, text: string, from: number): number {
  run.lastIndex = from
  run.exec(text)
  return run.lastIndex
}

/** Where the closing quote stands, with as many backslashes before it as the opening one has; -1 if there is none. */
function quotedEnd(text: string, from: number, quote: string): number {
  const sign = quote.at(-1) as string
  const limit = Math.min(text.length, from + MOST_VALUE)
  for (let at = text.indexOf(sign, from); at >= 0 && at <= limit; at = text.indexOf(sign, at + 1)) {
    let slashes = 0
    while (slashes <= 8 && text[at - 1 - slashes] === '\\' && at - slashes > from) slashes++
    if (slashes === quote.length - 1) return at - slashes
    if (slashes < quote.length - 1) return -1
  }
  if (limit < text.length) return -1
  // A text that ends inside of the quotes.
  return text.length
}

function lineEnd(text: string, from: number): number {
  const limit = Math.min(text.length, from + MOST_VALUE)
  for (let at = from; at < limit; at++) {
    const char = text[at] as string
    if (char === '\n' || char === '\r' || char === '"' || char === "'" || char === '`' || char === '\\')
      return at
  }
  return limit
}

function behindScheme(text: string, from: number, until: number): number {
  SCHEME.lastIndex = from
  return SCHEME.test(text) && SCHEME.lastIndex <= until ? SCHEME.lastIndex : from
}

/** Signs that end a sentence belong to no value. */
function trimmed(text: string, from: number, until: number): number {
  let end = until
  while (end > from && '.!?:'.includes(text[end - 1] as string)) end--
  return end
}

const PAIR = /(?<name>[\w.$-]{1,64})=(?<value>[^;\s"'\\,]{1,4096})/g
const ATTRIBUTE = /^(?:path|domain|expires|max-age|samesite)$/i

/** The values of the cookies in a header. */
function findCookies(text: string, from: number, until: number): FoundPlace[] {
  const places: FoundPlace[] = []
  for (const match of text.slice(from, until).matchAll(PAIR)) {
    const { name = '', value = '' } = match.groups ?? {}
    if (ATTRIBUTE.test(name) || !canBeSecret(value, cookie)) continue
    const end = from + match.index + match[0].length
    places.push({ start: end - value.length, end })
  }
  return places
}

/** Where secrets stand in the value of a field with this name. */
export function findInField(value: string, name: SecretName): readonly FoundPlace[] {
  if (name === cookie) return findCookies(value, 0, value.length)
  const start = name === authorization ? behindScheme(value, 0, value.length) : 0
  return canBeSecret(value.slice(start), name) ? [{ start, end: value.length }] : []
}
