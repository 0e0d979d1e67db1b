import { setKey } from '../json.ts'

const GRAM_CHARS = 6
const MAX_SECRETS = 1000
const MAX_SECRET_CHARS = 1_000_000
const HIDDEN = '[not shown: holds a restored secret, or a part of one]'

/**
 * Keeps originals that were handed to code out of reports. Code takes secrets apart, and a part has no shape by which redaction
 * would find it: a text that shares a few characters in a row with an original is hidden as a whole.
 */
export interface Concealment {
  /** Remembers an original that code was given. The oldest are dropped beyond a limit. */
  add(original: string): void
  conceal<Value>(value: Value): Value
}

export function createConcealment(): Concealment {
  const originals = new Set<string>()
  let chars = 0
  let grams: Set<string> | undefined

  function gramsOf(): Set<string> {
    if (grams) return grams
    grams = new Set()
    for (const original of originals)
      for (let at = 0; at + GRAM_CHARS <= original.length; at++)
        grams.add(original.slice(at, at + GRAM_CHARS))
    return grams
  }

  function holdsPart(text: string): boolean {
    const known = gramsOf()
    for (let at = 0; at + GRAM_CHARS <= text.length; at++)
      if (known.has(text.slice(at, at + GRAM_CHARS))) return true
    for (const original of originals) if (original.length < GRAM_CHARS && text.includes(original)) return true
    return false
  }

  function hide(part: unknown): unknown {
    if (typeof part === 'string') return holdsPart(part) ? HIDDEN : part
    if (typeof part !== 'object' || part === null) return part
    if (Array.isArray(part)) return part.map(hide)
    const copy: Record<string, unknown> = {}
    for (const [key, item] of Object.entries(part)) setKey(copy, holdsPart(key) ? HIDDEN : key, hide(item))
    return copy
  }

  return {
    add(original) {
      if (originals.has(original)) return
      originals.add(original)
      chars += original.length
      grams = undefined
      for (const oldest of originals) {
        if (originals.size <= MAX_SECRETS && chars <= MAX_SECRET_CHARS) break
        originals.delete(oldest)
        chars -= oldest.length
      }
    },
    conceal: (value) => (originals.size === 0 ? value : (hide(value) as typeof value)),
  }
}
