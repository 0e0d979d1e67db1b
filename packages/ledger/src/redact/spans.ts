import { formatPlaceholder, placeholdersIn } from './placeholder.ts'

/** A secret in a text. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly kind: string
  /** Found by a name only. A mark over the same text gives the better kind. */
  readonly isByName?: boolean
}

/** Spans in order of the text and without overlaps. Of two that overlap the longer wins, of equals a mark. */
export function settleSpans(spans: readonly Span[]): Span[] {
  if (spans.length < 2) return [...spans]
  const settled: Span[] = []
  const order = (a: Span, b: Span): number =>
    a.start - b.start || b.end - a.end || Number(a.isByName ?? false) - Number(b.isByName ?? false)
  for (const span of spans.toSorted(order)) {
    const last = settled.at(-1)
    if (last === undefined || span.start >= last.end) settled.push(span)
    else if (span.end > last.end) settled[settled.length - 1] = { ...last, end: span.end }
  }
  return settled
}

/** Spans that touch no placeholder: redacting twice changes nothing, whatever a user's rule matches. */
export function outsidePlaceholders(text: string, spans: readonly Span[]): readonly Span[] {
  const places = spans.length === 0 ? [] : placeholdersIn(text)
  if (places.length === 0) return spans
  return spans.filter(({ start, end }) =>
    places.every((place) => end <= place.index || start >= place.index + place[0].length),
  )
}

/** The text with a placeholder for each span, which carries the fingerprint of exactly what it replaces. */
export function replaceSpans(
  text: string,
  spans: readonly Span[],
  fingerprint: (secret: string) => string,
): string {
  const parts: string[] = []
  let done = 0
  for (const { start, end, kind } of spans) {
    parts.push(text.slice(done, start), formatPlaceholder(kind, fingerprint(text.slice(start, end))))
    done = end
  }
  parts.push(text.slice(done))
  return parts.join('')
}
