/**
 * Cache of digests and redaction results of long texts, so that a list of messages that is sent again with every call
 * is neither scanned nor hashed again. Bounded by characters: when the younger half is full, the older one is
 * dropped, and a text that is looked up again moves to the younger.
 */
export interface TextMemo<T> {
  get(text: string): T | undefined
  set(text: string, known: T): void
}

/** Shorter texts are looked at faster than they are looked up. */
const SHORTEST = 128
const MAX_CHARS = 4_000_000

export function createTextMemo<T>(most = MAX_CHARS): TextMemo<T> {
  let older = new Map<string, T>()
  let younger = new Map<string, T>()
  let size = 0

  function set(text: string, known: T): void {
    if (text.length < SHORTEST || text.length > most / 4) return
    if (size + text.length > most / 2) {
      older = younger
      younger = new Map()
      size = 0
    }
    younger.set(text, known)
    size += text.length
  }

  return {
    get(text) {
      if (text.length < SHORTEST) return undefined
      const known = younger.get(text)
      if (known !== undefined) return known
      const old = older.get(text)
      if (old !== undefined) set(text, old)
      return old
    },
    set,
  }
}
