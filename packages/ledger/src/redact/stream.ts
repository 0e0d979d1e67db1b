import { formatPlaceholder, maskPlaceholders } from './placeholder.ts'
import { PEM_BODY } from './shaped.ts'
import { REPEAT_REACH } from './repeats.ts'
import type { Span } from './spans.ts'
import { MOST_ROUNDS } from './spans.ts'
import type { Open } from './beginnings.ts'
import type { Unsettled } from './unsettled.ts'

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
/** What was shown and still tells what comes: longer than all that stands before a value, but for the head of a table. */
const CONTEXT = 1024
/** How much more may gather before the oldest is forgotten. */
const SURPLUS = 512

const PEM_NAME = '[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?'
const PEM_REST = new RegExp(`^${PEM_BODY}*`)
const PEM_END = new RegExp(`^-----END ${PEM_NAME}-----`)

/** Stands for what is gone: neither the beginning of a text nor a part of a word. */
const GONE = 'x '

export interface StreamOptions {
  readonly find: (text: string) => readonly Span[]
  readonly unsettled: Unsettled
  readonly fingerprint: (secret: string) => string
  /** Own rules may match whatever they like within a line, so only whole lines are let go. */
  readonly byLine: boolean
  /** Applied last to what is let go. */
  readonly own?: ((text: string) => string) | undefined
}

export function createStream(options: StreamOptions): RedactionStream {
  const { own } = options
  const first = createRound(options, '', 1)
  if (own === undefined) return first
  const cleaned = (text: string): string => (text === '' ? '' : own(text))
  return { push: (chunk) => cleaned(first.push(chunk)), end: () => cleaned(first.end()) }
}

/**
 * What is found is replaced, and what then is found is replaced again, as in a whole text: each round is a stream that the one
 * before pours into. The text that was shown stays as context, so only what is undecided waits.
 */
function createRound(options: StreamOptions, context: string, round: number): RedactionStream {
  const { find, unsettled, fingerprint, byLine } = options
  let seen = context
  let done = context.length
  let word = done
  let most = CONTEXT + SURPLUS
  let open: Open | undefined
  /** Where that begins, maybe inside of the word at `done`. */
  let held = done
  let withholding: 'word' | 'private-key' | undefined
  let next: RedactionStream | undefined
  let watch = unsettled.watch()
  let isQuiet = false
  /** Where the last secret ended, which may be said again. */
  let lastFound = Number.NEGATIVE_INFINITY

  const release = (until: number): string => {
    if (until <= done) return ''
    const before = done
    let out = ''
    let found = false
    for (const { start, end, kind } of isQuiet ? [] : find(seen)) {
      if (end <= done) continue
      if (start >= until) break
      if (end > until) {
        until = wordStart(seen, done, Math.max(done, start))
        break
      }
      out += seen.slice(done, start) + formatPlaceholder(kind, fingerprint(seen.slice(start, end)))
      done = end
      lastFound = end
      found = true
    }
    out += seen.slice(done, until)
    done = until
    if (found && round < MOST_ROUNDS) next ??= createRound(options, seen.slice(0, before), round + 1)
    if (done > most) forget()
    return next === undefined ? out : next.push(out)
  }

  /** What lies far behind, up to the beginning of a line. */
  const forget = (): void => {
    const line = seen.lastIndexOf('\n', done - CONTEXT) + 1
    const start = unsettled.headBefore(maskPlaceholders(seen), Math.max(line, done - CONTEXT - SURPLUS))
    seen = seen.slice(start)
    watch.forget(start)
    done -= start
    word -= start
    held -= start
    lastFound -= start
    most = done + SURPLUS
  }

  const overflow = (): string => {
    const spans = find(seen)
    const last = spans.at(-1)
    if (last !== undefined && last.end === seen.length) {
      withholding = last.kind === 'private-key' ? 'private-key' : 'word'
      const out = release(seen.length)
      begin('')
      return out
    }
    const cut = seen.length - FORCED_TAIL
    return release(spans.find((span) => span.start < cut && span.end > cut)?.end ?? cut)
  }

  const begin = (rest: string): void => {
    seen = GONE + rest
    done = GONE.length
    word = done
    lastFound = Number.NEGATIVE_INFINITY
    open = undefined
    watch = unsettled.watch()
  }

  /** Drops the rest of a secret of which as much was found as could be held. */
  const withhold = (held: string): void => {
    const rest = withholding === 'word' ? held.replace(/^[^\s"'`]+/, '') : held.replace(PEM_REST, '')
    const dashes = withholding === 'private-key' && rest === '' ? (/-{1,4}$/.exec(held)?.[0] ?? '') : ''
    begin(dashes + rest)
    if (rest === '') return
    const end = PEM_END.exec(rest)
    if (
      withholding === 'private-key' &&
      end === null &&
      /^-----(?:E|EN|END[A-Z0-9 ]{0,64}-{0,4})?$/.test(rest)
    )
      return
    if (end !== null) begin(rest.slice(end[0].length))
    withholding = undefined
  }

  /** Up to where all is decided. */
  const settled = (): number => {
    word = Math.max(word, done, wordStart(seen, word))
    const line = byLine ? Math.max(done, seen.lastIndexOf('\n') + 1) : word
    const until = Math.min(word, line)
    if (until === done) return done
    const masked = maskPlaceholders(seen)
    if (open?.(masked, held) === held) return done
    const { at, by, isFound } = watch.look(masked, done, until)
    open = by
    held = at
    isQuiet = !isFound && !byLine && isGap(seen, done - 1) && done - lastFound > REPEAT_REACH
    // A placeholder beside the rest of its word may make that a find, too.
    return at === until ? at : wordStart(seen, done, at)
  }

  return {
    push(chunk) {
      seen += chunk
      if (withholding !== undefined) withhold(seen.slice(done))
      if (withholding !== undefined) return ''
      let out = release(settled())
      isQuiet = false
      while (seen.length - done > HOLD_LIMIT) out += overflow()
      return out
    },
    end() {
      const out = withholding === undefined ? release(seen.length) : ''
      return next === undefined ? out : out + next.end()
    },
  }
}

/** Where the last word begins, if not before `from`. Detectors of a single word know only printable ASCII, so prose without spaces flows as well. */
function wordStart(text: string, from: number, end = text.length): number {
  for (let at = end; at > from; at--) if (isGap(text, at - 1)) return at
  return from
}

const isGap = (text: string, at: number): boolean => {
  const code = at < 0 ? 0 : text.charCodeAt(at)
  return code < 0x21 || code > 0x7e
}
