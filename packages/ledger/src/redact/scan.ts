import { createAutomaton } from './automaton.ts'
import { type Mark, MARKS } from './marks.ts'
import { findAssignment, runEnd, type SecretName, SPELLINGS } from './places.ts'
import type { Span } from './spans.ts'

/** What stands behind a keyword: a mark begins with it, or it is the name of a secret. */
type Meaning =
  | { readonly mark: Mark; readonly name?: undefined }
  | { readonly name: SecretName; readonly mark?: undefined }

interface Keyword {
  readonly text: string
  readonly means: Meaning
}

export interface Scanned {
  readonly spans: readonly Span[]
  /** Where something begins that the end of the text leaves undecided; the length of the text if nothing does. Only when growing. */
  readonly open: number
}

const KEYWORDS: readonly Keyword[] = [
  ...MARKS.flatMap((mark) => mark.keywords.map((text) => ({ text, means: { mark } }))),
  ...Array.from(SPELLINGS, ([text, name]) => ({ text, means: { name } })),
]

let automaton: ReturnType<typeof createAutomaton> | undefined

/**
 * Finds secrets in one pass: the automaton leads from keyword to keyword, and only what stands around one is looked at. What is
 * found depends on the text alone. With `growing` the text may go on; hits that begin before `from` were decided earlier.
 */
export function scanText(text: string, { growing = false, from = 0 } = {}): Scanned {
  automaton ??= createAutomaton(KEYWORDS.map((keyword) => keyword.text.toLowerCase()))
  const spans: Span[] = []
  const regions: { readonly start: number; readonly end: number }[] = []
  let open = text.length
  // Of a run of equal keywords each begins inside of the one before: what a mark took is not looked at again.
  let taken = from
  let cookiesTo = from
  /** Where the token ends that was looked at last. */
  let tokenEnd = 0
  function reachesEnd(from: number, { extent }: Mark): boolean {
    if (extent) return runEnd(extent, text, from) === text.length
    if (from > tokenEnd) tokenEnd = runEnd(TOKEN, text, from)
    return tokenEnd === text.length && text.length - from <= LONGEST_TOKEN
  }
  const unfinished = automaton.find(text, (index, end) => {
    const { text: keyword, means } = KEYWORDS[index] as Keyword
    const start = end - keyword.length
    if (start < taken) return
    if (means.name) {
      if (start < cookiesTo && means.name.kind === 'cookie') return
      const { places, isOpen, readTo = 0 } = findAssignment(text, start, end, means.name)
      cookiesTo = Math.max(cookiesTo, readTo)
      for (const place of places) spans.push({ ...place, kind: means.name.kind, isPlace: true })
      regions.push({ start, end: places.at(-1)?.end ?? end })
      if (isOpen) open = Math.min(open, start)
      return
    }
    const { mark } = means
    if (!mark.anyCase && !text.startsWith(keyword, start)) return
    if (!isTokenStart(text, start)) return
    const { span, readTo } = matchMark(text, start, end, mark)
    if (span) {
      spans.push(span)
      regions.push({ start, end: span.end })
    }
    // What was judged as a whole is not judged again from a keyword inside of it.
    taken = Math.max(taken, readTo)
    if (growing && start < open && reachesEnd(end, mark)) open = start
  })
  if (!growing) return { spans, open: text.length }
  open = Math.min(open, unfinished)
  // What lies across an open place is shown together with it, or the rest would be scanned without its name.
  for (const { start, end } of regions.toReversed()) if (start < open && end > open) open = start
  return { spans, open }
}

const TOKEN = /[A-Za-z0-9_.+/=~%@-]*/y
const LONGEST_TOKEN = 32_768
const TAIL = /[A-Za-z0-9_-]{0,16384}/y

function matchMark(
  text: string,
  start: number,
  end: number,
  { kind, body, check, hasTail }: Mark,
): { readonly span?: Span; readonly readTo: number } {
  body.lastIndex = end
  const match = body.exec(text)
  if (match === null) return { readTo: start }
  const stop = body.lastIndex
  const secret = match.groups?.['secret']
  if (check && !check(secret ?? match[0])) return { readTo: secret === undefined ? stop : start }
  if (secret !== undefined) return { span: { start: stop - secret.length, end: stop, kind }, readTo: stop }
  const tail = hasTail ? runEnd(TAIL, text, stop) : stop
  return { span: { start, end: tail, kind }, readTo: tail }
}

const ALNUM = /[A-Za-z0-9]/

/**
 * A token begins where no letter or digit stands before it, nor one with `-` or `_` behind it: in base64 anything turns up. The
 * letters of `\\n` and the digits of `%3D` are none.
 */
function isTokenStart(text: string, start: number): boolean {
  if (start === 0 || !ALNUM.test(text[start] as string)) return true
  const joint = /[-_]/.test(text[start - 1] as string) ? 1 : 0
  if (start === joint || !ALNUM.test(text[start - 1 - joint] as string)) return true
  return joint === 0 && /\\[bfnrt]$|%[0-9A-F]{2}$/.test(text.slice(Math.max(0, start - 3), start))
}
