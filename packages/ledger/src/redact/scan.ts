import { createAutomaton } from './automaton.ts'
import { findAssignment, runEnd } from './assignments.ts'
import { type Mark, MARKS } from './marks.ts'
import { type SecretName, SPELLINGS } from './secret-names.ts'
import type { Span } from './spans.ts'

/** A keyword starts a mark or is the name of a secret. */
type Meaning =
  | { readonly mark: Mark; readonly name?: undefined }
  | { readonly name: SecretName; readonly mark?: undefined }

interface Keyword {
  readonly text: string
  readonly means: Meaning
}

export interface Scanned {
  readonly spans: readonly Span[]
  /** Start of the first candidate that more text could still change; the text's length if there is none. */
  readonly open: number
}

const KEYWORDS: readonly Keyword[] = [
  ...MARKS.flatMap((mark) => mark.keywords.map((text) => ({ text, means: { mark } }))),
  ...Array.from(SPELLINGS, ([text, name]) => ({ text, means: { name } })),
]

let automaton: ReturnType<typeof createAutomaton> | undefined

/**
 * Finds secrets in one pass: the automaton finds keywords, and patterns run only at those. The result depends on the text alone.
 * In a growing text, candidates that start before `from` were decided by an earlier scan.
 */
export function scanText(text: string, { growing = false, from = 0 } = {}): Scanned {
  automaton ??= createAutomaton(KEYWORDS.map((keyword) => keyword.text.toLowerCase()))
  const spans: Span[] = []
  const regions: { readonly start: number; readonly end: number }[] = []
  let open = text.length
  // End of the last match. Keywords inside a match are skipped, or repeated keywords would take quadratic time.
  let taken = from
  let cookieHeaderEnd = from
  // End of the token that was measured last.
  let tokenEnd = 0
  function reachesEnd(from: number, { extent }: Mark): boolean {
    if (extent) return runEnd(extent, text, from) === text.length
    if (from > tokenEnd) tokenEnd = runEnd(TOKEN_CHARS, text, from)
    return tokenEnd === text.length && text.length - from <= MAX_OPEN_TOKEN_CHARS
  }
  const unfinished = automaton.find(text, (index, end) => {
    const { text: keyword, means } = KEYWORDS[index] as Keyword
    const start = end - keyword.length
    if (start < taken) return
    if (means.name) {
      if (start < cookieHeaderEnd && means.name.kind === 'cookie') return
      const { values, isOpen, headerEnd = 0 } = findAssignment(text, start, end, means.name)
      cookieHeaderEnd = Math.max(cookieHeaderEnd, headerEnd)
      for (const value of values) spans.push({ ...value, kind: means.name.kind, isByName: true })
      regions.push({ start, end: values.at(-1)?.end ?? end })
      if (isOpen) open = Math.min(open, start)
      return
    }
    const { mark } = means
    if (!mark.anyCase && !text.startsWith(keyword, start)) return
    if (!isTokenStart(text, start, keyword)) return
    const { span, judgedTo } = matchMark(text, start, end, mark)
    if (span) spans.push(span)
    regions.push({ start, end: span?.end ?? judgedTo })
    taken = Math.max(taken, judgedTo)
    if (growing && start < open && reachesEnd(end, mark)) open = start
  })
  if (!growing) return { spans, open: text.length }
  open = Math.min(open, unfinished)
  // A match across the open position stays whole: the rest would be scanned later without its keyword.
  for (const { start, end } of regions.toReversed()) if (start < open && end > open) open = start
  return { spans, open }
}

const TOKEN_CHARS = /[A-Za-z0-9_.+/=~%@-]*/y
const MAX_OPEN_TOKEN_CHARS = 32_768
const TAIL = /[A-Za-z0-9_-]{0,16384}/y

function matchMark(
  text: string,
  start: number,
  end: number,
  { kind, body, check, hasTail }: Mark,
): { readonly span?: Span; readonly judgedTo: number } {
  body.lastIndex = end
  const match = body.exec(text)
  if (match === null) return { judgedTo: 0 }
  const stop = body.lastIndex
  const secret = match.groups?.['secret']
  if (check && !check(secret ?? match[0])) return { judgedTo: secret === undefined ? stop : 0 }
  if (secret !== undefined) return { span: { start: stop - secret.length, end: stop, kind }, judgedTo: stop }
  const tail = hasTail ? runEnd(TAIL, text, stop) : stop
  return { span: { start, end: tail, kind }, judgedTo: tail }
}

const ALNUM = /[A-Za-z0-9]/

const ESCAPE = String.fromCharCode(27)
/** Text before a token that is not part of it: an escaped line feed, `%3D`, a colour code. */
const BEFORE_TOKEN = new RegExp(`\\\\[bfnrt]$|%[0-9A-F]{2}$|(?:${ESCAPE}|\\\\u001b)\\[[0-9;]{0,16}m$`)
/** A word joined to a token: `backup-ghp_…`. */
const JOINED_WORD = /(?:^|[^A-Za-z0-9_-])[A-Za-z]{1,12}[-_]$/
/** Prefixes that are words, and so occur inside of other prefixes: `shippo_live_`. */
const WORD_PREFIX = /^(?:live|test|sandbox|secret|key|api|sdk|pat|sess)[-_.]?$/

/** True if no letter or digit precedes `start`, directly or before a `-` or `_`: inside base64 any prefix occurs by chance. */
function isTokenStart(text: string, start: number, keyword: string): boolean {
  if (start === 0 || !ALNUM.test(text[start] as string)) return true
  const joint = /[-_]/.test(text[start - 1] as string) ? 1 : 0
  if (start === joint || !ALNUM.test(text[start - 1 - joint] as string)) return true
  const left = text.slice(Math.max(0, start - 24), start)
  return BEFORE_TOKEN.test(left) || (JOINED_WORD.test(left) && !WORD_PREFIX.test(keyword))
}
