const MAX_CHARS = 8 * 1024 * 1024
const MAX_COUNT = 20_000

/** Secrets that redaction took out, by fingerprint, until an event that holds their placeholders is written. */
export interface Originals {
  remember(fingerprint: string, original: string): void
  find(fingerprint: string): string | undefined
  /** Nothing is dropped while `work` runs, so that one payload may hold more secrets than the limits allow. */
  during<T>(work: () => T): T
}

/** Bounded by count and characters; the least recently seen go first. Held in a closure, so nothing prints it. */
export function createOriginals({ maxChars = MAX_CHARS, maxCount = MAX_COUNT } = {}): Originals {
  const known = new Map<string, string>()
  let chars = 0
  let isHeld = false

  function trim(): void {
    for (const [fingerprint, original] of known) {
      if (chars <= maxChars && known.size <= maxCount) break
      known.delete(fingerprint)
      chars -= original.length
    }
  }

  return {
    remember(fingerprint, original) {
      const before = known.get(fingerprint)
      known.delete(fingerprint)
      known.set(fingerprint, original)
      chars += original.length - (before?.length ?? 0)
      if (!isHeld) trim()
    },
    find: (fingerprint) => known.get(fingerprint),
    during(work) {
      trim()
      isHeld = true
      try {
        return work()
      } finally {
        isHeld = false
      }
    },
  }
}
