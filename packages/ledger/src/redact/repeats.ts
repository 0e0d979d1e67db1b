import type { Span } from './spans.ts'

/** How far behind a secret the same word is one, too: what a stream still remembers of the text before. */
export const REPEAT_REACH = 480

/** Words and years come again for other reasons. */
const isTelling = (secret: string): boolean =>
  /^[\x21-\x7e]{6,64}$/.test(secret) && /\d/.test(secret) && (/[A-Za-z]/.test(secret) || secret.length >= 6)

const IN_WORD = /[A-Za-z0-9]/

/** Where a secret that was found is said again: "Confirm: …", "I typed …", "again: …". */
export function repeatsOf(text: string, spans: readonly Span[]): Span[] {
  const found: Span[] = []
  for (const { start, end, kind } of spans) {
    const secret = text.slice(start, end)
    if (!isTelling(secret)) continue
    const near = text.slice(end, end + REPEAT_REACH)
    for (let at = near.indexOf(secret); at >= 0; at = near.indexOf(secret, at + secret.length)) {
      const last = end + at + secret.length
      if (!IN_WORD.test(text.charAt(end + at - 1)) && !IN_WORD.test(text.charAt(last)))
        found.push({ start: end + at, end: last, kind })
    }
  }
  return found
}
