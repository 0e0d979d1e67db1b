import { indexedTokens } from '@clew/ledger'

/** Limits of a tsvector: positions per word, and the highest position. */
const MAX_PLACES = 256
const LAST_PLACE = 16_383

export interface IndexedWords {
  /** A tsvector as text. */
  readonly words: string
  /** The words in their order, if a tsvector cannot represent it. */
  readonly texts: string | null
}

/** Words hold letters and digits, tags a sign more: nothing in them can end a quotation. */
export const quoted = (word: string): string => `'${word}'`

/** Fields with the label of each, which stand apart by a hole, so that no phrase goes from one into the next; and tags. */
export function wordsVector(
  fields: readonly (readonly [label: 'A' | 'B' | 'C' | 'D', text: string])[],
  tags: readonly string[],
): IndexedWords {
  const places = new Map<string, string[]>()
  const texts: string[] = []
  let place = 0
  let isTold = true
  for (const [label, text] of fields) {
    const tokens = indexedTokens(text)
    if (tokens.length > 0) texts.push(` ${tokens.join(' ')} `)
    for (const token of tokens) {
      const own = places.get(token)
      place++
      if (place > LAST_PLACE || (own?.length ?? 0) >= MAX_PLACES) isTold = false
      if (!own) places.set(token, [`${Math.min(place, LAST_PLACE)}${label}`])
      else if (own.length < MAX_PLACES && place <= LAST_PLACE) own.push(`${place}${label}`)
    }
    place += 2
  }
  const words = [...places].map(([token, own]) => `${quoted(token)}:${own.join(',')}`)
  const all = [...new Set(tags).values()].map(quoted).concat(words)
  return { words: all.join(' '), texts: isTold ? null : texts.join('\n') }
}
