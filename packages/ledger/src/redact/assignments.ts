import { canBeSecret } from './judge-value.ts'
import {
  AUTHORIZATION,
  COOKIE,
  isAlphanumeric,
  isOwnWord,
  MAX_LEFT_CHARS,
  type SecretName,
} from './secret-names.ts'

/** Range of a secret value in a text. */
export interface ValueRange {
  readonly start: number
  readonly end: number
}

export interface Assignment {
  /** Secret values of the assignment, in order; a cookie header may have several. */
  readonly values: readonly ValueRange[]
  /** True if the text ended before the assignment did, so more text may change the result. */
  readonly isOpen: boolean
  /** End of a cookie header: a `cookie` inside of it starts no other header. */
  readonly headerEnd?: number
}

const NONE: Assignment = { values: [], isOpen: false }
const OPEN: Assignment = { values: [], isOpen: true }
const MAX_VALUE_CHARS = 4096
const MAX_SEPARATOR_CHARS = 96

/** Text between a name and its value: end of the name's quotes or brackets, a type, `:` or `=`, the value's opening quote. */
const SEPARATOR =
  /(?:\\{0,8}["'`])?\]?(?:\??:[ \t]{0,4}&?[A-Za-z][\w.<>?[\]]{1,40}(?=[ \t]{1,4}=[ \t]{0,4}[bBrRuU@]?["'`])|[ \t]{1,4}string(?=[ \t]{1,4}=))?[ \t]{0,40}(?::=|=>|=(?![=>~])|:(?![:=]))[ \t]{0,40}(?:\[[ \t]{0,4}(?=\\{0,8}["'`])|[bBrRuU@](?=["']))?(?<quote>\\{0,8}["'`])?/y
/** Beginning of a separator at the end of a growing text. */
const PARTIAL_SEPARATOR =
  /^\\{0,8}["'`]?\]?(?:\??:?[ \t]{0,4}&?[\w.<>?[\]]{0,41})?[ \t]{0,40}(?:=[ \t]{0,4}[bBrRuU@]?)?$/
/** Value without quotes; `=` only as base64 padding. */
const UNQUOTED = /[^\s"'`,;&|<>()[\]{}\\=:]{0,4096}(?:={1,2}(?![^\s"'`,;&]))?/y
/** Value without quotes that fills the rest of its line, up to the next parameter of a query or connection string. */
const REST_OF_LINE = /(?:[^\s\\&;]|[&;](?![\w.-]{1,64}=)){0,4096}/y
const AUTH_SCHEME =
  /(?:Bearer|Basic|Token|Digest|ApiKey|Api-Key|SSWS|Bot|Negotiate|AWS4-HMAC-SHA256)[ ]{1,2}/iy
/** Text before a name that is the first of its line: indentation, a diff sign, `file:`, a line number, `export`. */
const LINE_START = /(?:\n|\\n)[ \t+>-]{0,16}(?:[\w./-]{1,64}:)?(?:\d{1,6}[ \t:|→]{1,4})?(?:export )?[\w.-]*$/
/** Text before a name that opens a quoted `"NAME=value"`. */
const QUOTE_BEFORE_NAME = /(\\{0,8}["'`])[\w.-]*$/

/** Finds the secret value assigned to the name between `start` and `end`: `name: value`, `NAME=value`, `"name": "value"`. */
export function findAssignment(text: string, start: number, end: number, name: SecretName): Assignment {
  const after = text.charCodeAt(end)
  const isLongerName = isAlphanumeric(after) || after === 95 || after === 45
  if (isLongerName || !isOwnWord(text, start, name)) return NONE
  SEPARATOR.lastIndex = end
  const separator = SEPARATOR.exec(text)
  if (separator === null)
    return text.length <= end + MAX_SEPARATOR_CHARS && PARTIAL_SEPARATOR.test(text.slice(end)) ? OPEN : NONE
  const from = SEPARATOR.lastIndex
  // The value has not come yet, and the separator may go on.
  if (from === text.length) return OPEN
  const quote = separator.groups?.['quote']
  if (quote === undefined && name !== COOKIE) return findUnquoted(text, start, from, separator[0], name)
  const until = quote === undefined ? headerEnd(text, from) : quotedEnd(text, from, quote)
  if (until < 0) return NONE
  const isOpen =
    until === text.length || (quote === undefined && until === from && endsInBackslashes(text, until))
  if (name === COOKIE) return { values: findCookies(text, from, until), isOpen, headerEnd: until }
  return judge(text, name === AUTHORIZATION ? skipScheme(text, from, until) : from, until, name, isOpen)
}

function judge(text: string, start: number, end: number, name: SecretName, isOpen: boolean): Assignment {
  return { values: canBeSecret(text.slice(start, end), name) ? [{ start, end }] : [], isOpen }
}

function findUnquoted(
  text: string,
  start: number,
  from: number,
  separator: string,
  name: SecretName,
): Assignment {
  const valueStart = name === AUTHORIZATION ? skipScheme(text, from, text.length) : from
  const left =
    start <= MAX_LEFT_CHARS ? `\n${text.slice(0, start)}` : text.slice(start - MAX_LEFT_CHARS, start)
  const isFirstInLine = LINE_START.test(left)
  // Part of a resource name: `arn:aws:secretsmanager:eu:1:secret:name`.
  if (separator === ':' && /:[\w-]*$/.test(left)) return NONE
  const isEmptyValue = /^\S*=[ \t]+$/.test(separator)
  const isWorkingDirectory = isFirstInLine && /^pwd\b/i.test(text.slice(start, start + 4))
  if (isEmptyValue || isWorkingDirectory)
    return from === text.length || endsInBackslashes(text, from) ? OPEN : NONE
  if (separator === '=') {
    const [, quote] = QUOTE_BEFORE_NAME.exec(left) ?? []
    const end = quote === undefined ? -1 : quotedEnd(text, valueStart, quote)
    if (end >= 0 && !/[&;,\s]/.test(text.slice(valueStart, end)))
      return judge(text, valueStart, end, name, end === text.length)
  }
  if (isFirstInLine) {
    const end = runEnd(REST_OF_LINE, text, valueStart)
    if (end === text.length || /[\r\n\\]/.test(text[end] as string)) {
      const isOpen = end === text.length || endsInBackslashes(text, end)
      // Lines of code end with one of these, so the value may be a variable; a line `NAME=value` holds a value.
      const codeEnd = trimEnd(text, valueStart, end, ',;)')
      if (separator === '=' && codeEnd === end) return judge(text, valueStart, end, name, isOpen)
      return judge(text, valueStart, codeEnd, { ...name, isUnquoted: true }, isOpen)
    }
  }
  const isParameter = separator === '=' && (isFirstInLine || /[?&;][\w.-]*$/.test(left))
  const end = runEnd(UNQUOTED, text, valueStart)
  // A bracket follows a function or a list, a colon follows the prompt of a shell.
  if (/[([{:]/.test(text[end] ?? '')) return NONE
  const isOpen = end === text.length || endsInBackslashes(text, end) || mayBeType(text, end)
  if (isParameter) return judge(text, valueStart, end, name, isOpen)
  return judge(
    text,
    valueStart,
    trimEnd(text, valueStart, end, '.!?:'),
    { ...name, isUnquoted: true },
    isOpen,
  )
}

/** True if the word before `at` may be the type of `token: string = "…"`, of which the growing text lacks the rest. */
const mayBeType = (text: string, at: number): boolean =>
  text.length - at <= 10 && /^[ \t]{0,4}(?:=[ \t]{0,4}[bBrRuU@]?)?$/.test(text.slice(at))

/** True if only backslashes follow: the next character may be an escaped quote. */
const endsInBackslashes = (text: string, at: number): boolean => /^\\{1,8}$/.test(text.slice(at, at + 9))

/** End of the run that a sticky pattern matches at `from`. The pattern must match the empty text. */
export function runEnd(run: RegExp, text: string, from: number): number {
  run.lastIndex = from
  run.exec(text)
  return run.lastIndex
}

/** Position of the closing quote, escaped as often as the opening one; the end of a text that stops before it; else -1. */
function quotedEnd(text: string, from: number, quote: string): number {
  const mark = quote.at(-1) as string
  const escapes = quote.length - 1
  const limit = Math.min(text.length, from + MAX_VALUE_CHARS)
  for (let at = text.indexOf(mark, from); at >= 0 && at <= limit; at = text.indexOf(mark, at + 1)) {
    let backslashes = 0
    while (backslashes <= 8 && text[at - 1 - backslashes] === '\\' && at - backslashes > from) backslashes++
    if (backslashes === escapes) return at - backslashes
    if (backslashes < escapes) return -1
  }
  return limit < text.length ? -1 : text.length
}

const HEADER = /[^\n\r"'`\\]{0,4096}/y
const headerEnd = (text: string, from: number): number => runEnd(HEADER, text, from)

function skipScheme(text: string, from: number, until: number): number {
  AUTH_SCHEME.lastIndex = from
  return AUTH_SCHEME.test(text) && AUTH_SCHEME.lastIndex <= until ? AUTH_SCHEME.lastIndex : from
}

function trimEnd(text: string, from: number, until: number, chars: string): number {
  let end = until
  while (end > from && chars.includes(text[end - 1] as string)) end--
  return end
}

const COOKIE_PAIR = /(?<name>[\w.$-]{1,64})=(?<value>[^;\s"'\\,]{1,4096})/g
const COOKIE_ATTRIBUTE = /^(?:path|domain|expires|max-age|samesite)$/i

/** Values of the cookies in a header. */
function findCookies(text: string, from: number, until: number): ValueRange[] {
  const values: ValueRange[] = []
  for (const match of text.slice(from, until).matchAll(COOKIE_PAIR)) {
    const { name = '', value = '' } = match.groups ?? {}
    if (COOKIE_ATTRIBUTE.test(name) || !canBeSecret(value, COOKIE)) continue
    const end = from + match.index + match[0].length
    values.push({ start: end - value.length, end })
  }
  return values
}

/** Secrets in the value of a field with this name. */
export function findInField(value: string, name: SecretName): readonly ValueRange[] {
  if (name === COOKIE) return findCookies(value, 0, value.length)
  const start = name === AUTHORIZATION ? skipScheme(value, 0, value.length) : 0
  return canBeSecret(value.slice(start), name) ? [{ start, end: value.length }] : []
}
