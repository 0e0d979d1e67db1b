import { BESIDE_OPEN } from './beside.ts'
import { CALL_OPEN } from './calls.ts'
import { COMMAND_OPEN } from './commands.ts'
import { FIELD_OPEN } from './fields.ts'
import { anyCase, HARD_KEY, SOFT_KEY } from './keys.ts'
import { RUN_OPEN } from './long-runs.ts'
import { NEXT_LINE_OPEN } from './next-line.ts'
import { isBegin, openPhrase } from './recovery-phrase.ts'
import { PEM_BODY } from './shaped.ts'
import { SAID_OPEN } from './said.ts'
import { TABLE_OPEN } from './tables.ts'
import type { Span } from './spans.ts'

/** `push` gives back what can be shown already, `end` the rest. */
export interface RedactionStream {
  push(chunk: string): string
  end(): string
}

/**
 * The most that is held back between two calls, in characters. A secret still open there (a private key
 * without its END line) is replaced by what is known of it, and its remainder is withheld.
 */
export const HOLD_LIMIT = 32_768
/** Kept back when a word longer than the limit has to be cut: longer than any token but JWTs and keys. */
const FORCED_TAIL = 512

const QUOTES = '["\'`\\\\]{0,5}'
const PEM_NAME = '[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?'

/** The ends of a text that a match may pass beyond white space; each alternative begins where its match does. */
const OPEN = new RegExp(
  `(?:${[
    `(?:${HARD_KEY}|${SOFT_KEY}|[pP]ass|PASS|[pP]wd|PWD|[pP]w|[pP]sk|PSK)(?:${QUOTES}\\s{0,40}(?:(?::=|=>|[:=])\\s{0,16}(?:\\S{0,600}|(?<quote>\\\\{0,3}["'\`])(?:(?!(?<!\\\\)\\k<quote>)[^\\r\\n]){0,8200}))?| ["']?\\S{0,600})`,
    `${anyCase('authorization')}${QUOTES} {0,3}[:=] {0,3}${QUOTES}(?:[A-Za-z-]+ +)?\\S*`,
    '-(?:u|-user)[ =]{0,2}\\S{0,250}',
    `${anyCase('cookie')}${QUOTES} {0,3}: {0,3}${QUOTES}[\\w.%-]{0,64}(?:=[^\\s;"'\\\\]*(?:;[^\\r\\n"'\\\\]*)?)?`,
    `${anyCase('(?:bearer|basic)')} +`,
    ':\\/\\/[^\\s"\'<>/]{0,600}',
    '-----BEGIN [A-Z0-9 ]*',
    `-----BEGIN ${PEM_NAME}-----${PEM_BODY}*(?:-----END [A-Z0-9 ]*)?`,
    '[+(]?\\d[\\d ().-]*',
    '[A-Z]{2}\\d{2}[A-Z0-9 ]{0,40}',
    ...SAID_OPEN.map((open) => `${open} {0,3}`),
    ...RUN_OPEN,
    ...COMMAND_OPEN,
    ...BESIDE_OPEN,
    ...CALL_OPEN,
    ...FIELD_OPEN,
    ...NEXT_LINE_OPEN,
    ...TABLE_OPEN,
  ].join('|')})$`,
)

const PEM_REST = new RegExp(`^${PEM_BODY}*`)
const PEM_END = new RegExp(`^-----END ${PEM_NAME}-----`)

const BEFORE = 'x '

export interface StreamOptions {
  text: (whole: string) => string
  detect: (text: string) => Span[]
  /** Own rules may match whatever they like within a line, so only whole lines are let go. */
  byLine: boolean
}

export function createStream({ text, detect, byLine }: StreamOptions): RedactionStream {
  let held = ''
  let withholding: 'word' | 'private-key' | undefined

  /** What stands before: where a text begins, a phrase may begin too. */
  let before = ''
  const piece = (part: string): string => text(before + part).slice(before.length)

  const release = (cut: number): string => {
    if (cut === 0) return ''
    const out = piece(held.slice(0, cut))
    before = isBegin(before + held, before.length + cut) ? '' : BEFORE
    held = held.slice(cut)
    return out
  }

  const overflow = (): string => {
    const spans = detect(held)
    const last = spans.at(-1)
    if (last !== undefined && last.end === held.length) {
      withholding = last.kind === 'private-key' ? 'private-key' : 'word'
      return release(held.length)
    }
    const cut = held.length - FORCED_TAIL
    return release(spans.find((span) => span.start < cut && span.end > cut)?.end ?? cut)
  }

  const withhold = (): void => {
    const rest = withholding === 'word' ? held.replace(/^[^\s"'`]+/, '') : held.replace(PEM_REST, '')
    const dashes = withholding === 'private-key' && rest === '' ? (/-{1,4}$/.exec(held)?.[0] ?? '') : ''
    held = dashes + rest
    if (rest === '') return
    const end = PEM_END.exec(rest)
    if (
      withholding === 'private-key' &&
      end === null &&
      /^-----(?:E|EN|END[A-Z0-9 ]{0,64}-{0,4})?$/.test(rest)
    )
      return
    if (end !== null) held = rest.slice(end[0].length)
    withholding = undefined
  }

  return {
    push(chunk) {
      held += chunk
      if (withholding !== undefined) withhold()
      if (withholding !== undefined) return ''
      let out = release(byLine ? held.lastIndexOf('\n') + 1 : safeCut(held))
      while (held.length > HOLD_LIMIT) out += overflow()
      return out
    },
    end() {
      const out = withholding === undefined ? piece(held) : ''
      held = ''
      before = ''
      withholding = undefined
      return out
    },
  }
}

/** The last place between two words that no match can span, whatever comes next. */
function safeCut(text: string): number {
  let cut = wordStart(text, text.length)
  for (let retreats = 0; cut > 0; retreats++) {
    // Hostile text is one candidate after the other; then more is held instead of asking on and on.
    if (retreats === 16) return 0
    const open = Math.min(OPEN.exec(text.slice(0, cut))?.index ?? cut, openPhrase(text, cut))
    if (open === cut) break
    cut = wordStart(text, Math.min(open, cut - 1))
  }
  return cut
}

/** Detectors of a single word know only printable ASCII, so prose without spaces flows as well. */
function wordStart(text: string, from: number): number {
  let at = from
  while (at > 0) {
    const code = text.charCodeAt(at - 1)
    if (code < 0x21 || code > 0x7e) return at
    at--
  }
  return at
}
