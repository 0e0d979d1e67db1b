import { replaceSpans, type Span } from './spans.ts'

/** `push` returns what is decided already, `end` the rest. */
export interface RedactionStream {
  push(chunk: string): string
  end(): string
}

export interface StreamOptions {
  /** Secrets in a growing text, and the first position that more text could still change. */
  readonly find: (text: string, from: number) => { readonly spans: readonly Span[]; readonly open: number }
  readonly fingerprint: (secret: string) => string
  /** Patterns of the user may match anything within a line, so only whole lines are returned. */
  readonly byLine: boolean
  /** Applied last, to what is returned. */
  readonly own?: ((text: string) => string) | undefined
}

/** Characters kept of what was already returned; must exceed what is read before a keyword. */
const CONTEXT_CHARS = 256
/** Longer lines are returned in parts. */
const MAX_LINE_CHARS = 32_768
/** Marks and values are shorter. Only hostile text chains matches for longer, and is cut here. */
const MAX_HELD_CHARS = 65_536
/** Held text is scanned again after it has grown by this fraction: scanning it for every chunk would be quadratic. */
const RESCAN_DIVISOR = 8

/**
 * Holds text back from the first position at which a mark, a name or a value may still be growing. Each of them has an upper
 * limit. The end of the returned text is kept, unredacted, as context for the next scan.
 */
export function createStream({ find, fingerprint, byLine, own }: StreamOptions): RedactionStream {
  let seen = ''
  /** End of what was returned. */
  let done = 0
  /** Length of `seen` at which it is scanned again. */
  let nextScan = 0

  function release(isEnd: boolean): string {
    const { spans, open } = find(seen, done)
    let until = isEnd ? seen.length : Math.max(open, seen.length - MAX_HELD_CHARS)
    if (byLine && !isEnd && seen.length - done < MAX_LINE_CHARS)
      until = Math.min(until, seen.lastIndexOf('\n') + 1)
    const cut = spans.find(({ start, end }) => start < until && end > until)
    if (cut) until = cut.start
    if (until <= done) {
      nextScan = seen.length + Math.floor((seen.length - done) / RESCAN_DIVISOR)
      return ''
    }
    const shown = spans
      .filter(({ start, end }) => start >= done && end <= until)
      .map((span) => ({ ...span, start: span.start - done, end: span.end - done }))
    const out = replaceSpans(seen.slice(done, until), shown, fingerprint)
    const keep = Math.max(0, until - CONTEXT_CHARS)
    seen = seen.slice(keep)
    done = until - keep
    nextScan = 0
    return own === undefined || out === '' ? out : own(out)
  }

  return {
    push(chunk) {
      seen += chunk
      return seen.length < nextScan ? '' : release(false)
    },
    end: () => release(true),
  }
}
