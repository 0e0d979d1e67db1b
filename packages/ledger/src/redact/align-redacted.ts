/** A part of a text, and what stands in its place. */
export interface TextChange {
  readonly start: number
  readonly end: number
  readonly text: string
}

const PLACEHOLDERS = /(?:\[redacted:[a-z0-9-]+:[^\][\s]*\])+/g

/**
 * Finds the placeholders of a redacted text in its original. Between them the two are equal; otherwise, as with a
 * rule of the user's own, the whole text is one change.
 */
export function alignRedacted(text: string, redacted: string): readonly TextChange[] {
  const changes: TextChange[] = []
  const found = [...redacted.matchAll(PLACEHOLDERS)]
  let [at, from] = [0, 0]
  for (const [index, match] of found.entries()) {
    const [placeholder] = match
    const lead = redacted.slice(from, match.index)
    if (!text.startsWith(lead, at)) return whole(text, redacted)
    const start = at + lead.length
    from = match.index + placeholder.length
    const tail = redacted.slice(from, found[index + 1]?.index ?? redacted.length)
    const end = index === found.length - 1 ? text.length - tail.length : text.indexOf(tail, start)
    if (end < start || !text.startsWith(tail, end)) return whole(text, redacted)
    // A placeholder that was in the text already is the same in both.
    if (text.slice(start, end) !== placeholder) changes.push({ start, end, text: placeholder })
    at = end
  }
  return text.slice(at) === redacted.slice(from) ? changes : whole(text, redacted)
}

const whole = (text: string, redacted: string): readonly TextChange[] => [
  { start: 0, end: text.length, text: redacted },
]
