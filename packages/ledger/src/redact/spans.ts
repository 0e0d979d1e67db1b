import { formatPlaceholder } from './placeholder.ts'
import type { Detector } from './detector.ts'

export interface Span {
  start: number
  end: number
  kind: string
}

/** Looks for what no single pattern describes. When `mayFind` is false for a text, also as JSON escapes it, `find` finds nothing. */
export interface Finder {
  readonly mayFind: (text: string) => boolean
  readonly find: (text: string) => readonly Span[]
}

/** Everything that the detectors find in the text, in their order. */
export function findSpans(text: string, detectors: readonly Detector[]): Span[] {
  const spans: Span[] = []
  for (const detector of detectors) {
    const { kind, pattern } = detector
    pattern.lastIndex = 0
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const secret = match.groups?.secret ?? match[0]
      const end = match.index + match[0].length
      const name = (): string => (typeof kind === 'string' ? kind : kind(match))
      if (match[0] === '') pattern.lastIndex = end + 1
      else if (detector.locate)
        for (const place of detector.locate(match)) spans.push({ ...place, kind: name() })
      else if (detector.validate?.(secret, match) ?? true)
        spans.push({ start: end - secret.length, end, kind: name() })
    }
  }
  return spans
}

/** In order of the text, without overlaps. */
export function settleSpans(text: string, spans: Span[]): Span[] {
  if (spans.length === 0) return spans
  return mergeSpans(text.includes('[redacted:') ? outsidePlaceholders(text, spans) : spans)
}

/**
 * Redacting twice changes nothing: `[redacted:password:4f…]` is itself an assignment to `password`. A find that
 * holds a placeholder became possible only through it, and a stream could not have known.
 */
function outsidePlaceholders(text: string, spans: readonly Span[]): Span[] {
  const places = [...text.matchAll(/\[redacted:[a-z0-9-]+:[^\]\s]*\]/g)]
  const sorted = spans.toSorted((a, b) => a.start - b.start)
  let next = 0
  return sorted.filter(({ start, end }) => {
    for (let place = places[next]; place && place.index + place[0].length <= start; place = places[next])
      next++
    return end <= (places[next]?.index ?? Number.POSITIVE_INFINITY)
  })
}

/** The longer of two finds wins, so that no remainder of a secret stays; of equals the first detector's. */
function mergeSpans(spans: Span[]): Span[] {
  const merged: Span[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1)
    if (last === undefined || span.start >= last.end) merged.push(span)
    else if (span.end > last.end) last.end = span.end
  }
  return merged
}

export interface Cleaned {
  text: string
  /** How many secrets were replaced. */
  count: number
}

/**
 * Replaces what `detect` finds until it finds no more: a placeholder in its neighbour's place can turn a text
 * into a find, which a second redaction would otherwise be the first to see.
 */
export function cleanText(
  text: string,
  detect: (text: string) => readonly Span[],
  fingerprint: (secret: string) => string,
): Cleaned {
  let cleaned = text
  let count = 0
  for (let round = 0; round < 8; round++) {
    const spans = detect(cleaned)
    if (spans.length === 0) break
    cleaned = replaceSpans(cleaned, spans, fingerprint)
    count += spans.length
  }
  return { text: cleaned, count }
}

function replaceSpans(text: string, spans: readonly Span[], fingerprint: (secret: string) => string): string {
  let out = ''
  let at = 0
  for (const { start, end, kind } of spans) {
    out += text.slice(at, start) + formatPlaceholder(kind, fingerprint(text.slice(start, end)))
    at = end
  }
  return out + text.slice(at)
}
