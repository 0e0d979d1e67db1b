import { replaceSpans, type Span } from './spans.ts'

/** `push` gives back what can be shown already, `end` the rest. */
export interface RedactionStream {
  push(chunk: string): string
  end(): string
}

export interface StreamOptions {
  /** Secrets in a text that may go on, and where something begins that its end leaves undecided. */
  readonly find: (text: string, from: number) => { readonly spans: readonly Span[]; readonly open: number }
  readonly fingerprint: (secret: string) => string
  /** Patterns of the user's may match whatever they like within a line, so only whole lines are let go. */
  readonly byLine: boolean
  /** Applied last to what is let go. */
  readonly own?: ((text: string) => string) | undefined
}

/** What was shown and still tells what comes: longer than all that is read before a keyword. */
const CONTEXT = 256
/** A line longer than this is let go in parts, cut where no mark is open. */
const LONGEST_LINE = 32_768
/** Each mark and value is shorter; only texts made for it hang together for longer, and are cut. */
const MOST_HELD = 65_536
/** What is held back is looked at again when it has grown by an eighth, so that a long one costs no more for each piece. */
const GROWTH = 8

/**
 * The text is held back from where a mark, a name or a value may still be growing. Each of them has an upper limit, so what is
 * held back has one, too. What was shown stays as context, as it came.
 */
export function createStream({ find, fingerprint, byLine, own }: StreamOptions): RedactionStream {
  let seen = ''
  /** Up to here it was shown. */
  let done = 0
  /** Nothing is looked at before the text is so long. */
  let nextLook = 0

  function release(isEnd: boolean): string {
    const { spans, open } = find(seen, done)
    let until = isEnd ? seen.length : Math.max(open, seen.length - MOST_HELD)
    if (byLine && !isEnd && seen.length - done < LONGEST_LINE)
      until = Math.min(until, seen.lastIndexOf('\n') + 1)
    const cut = spans.find(({ start, end }) => start < until && end > until)
    if (cut) until = cut.start
    if (until <= done) {
      nextLook = seen.length + Math.floor((seen.length - done) / GROWTH)
      return ''
    }
    const shown = spans
      .filter(({ start, end }) => start >= done && end <= until)
      .map((span) => ({ ...span, start: span.start - done, end: span.end - done }))
    const out = replaceSpans(seen.slice(done, until), shown, fingerprint)
    const keep = Math.max(0, until - CONTEXT)
    seen = seen.slice(keep)
    done = until - keep
    nextLook = 0
    return own === undefined || out === '' ? out : own(out)
  }

  return {
    push(chunk) {
      seen += chunk
      return seen.length < nextLook ? '' : release(false)
    },
    end: () => release(true),
  }
}
