const DAY_MS = 86_400_000

export interface LocalTime {
  /** Local time at an instant, as the milliseconds that a clock in UTC with these digits has. */
  toLocal(instantMs: number): number
  /**
   * Instant of a local time. One that exists twice is the first of the two; one that does not exist, as clocks are put
   * forward over it, is the first instant after the gap.
   */
  toInstant(localMs: number): number
}

/** Undefined if there is no such time zone. */
export function localTimeOf(timeZone: string): LocalTime | undefined {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }

  function offsetAt(instantMs: number): number {
    const seconds = Math.floor(instantMs / 1000) * 1000
    const parts = new Map(format.formatToParts(seconds).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    const local = Date.UTC(
      part('year'),
      part('month') - 1,
      part('day'),
      part('hour'),
      part('minute'),
      part('second'),
    )
    return local - seconds
  }

  /** First instant at which the offset is no longer the one at the beginning. */
  function changeBetween(fromMs: number, toMs: number): number {
    const before = offsetAt(fromMs)
    let [low, high] = [fromMs, toMs]
    while (high - low > 1000) {
      const middle = low + Math.floor((high - low) / 2000) * 1000
      if (offsetAt(middle) === before) low = middle
      else high = middle
    }
    return high
  }

  return {
    toLocal: (instantMs) => instantMs + offsetAt(instantMs),
    toInstant(localMs) {
      const offsets = [offsetAt(localMs - DAY_MS), offsetAt(localMs + DAY_MS)]
      const instants = [...new Set(offsets)].map((offset) => localMs - offset).toSorted((a, b) => a - b)
      const found = instants.find((instant) => instant + offsetAt(instant) === localMs)
      if (found !== undefined) return found
      const [first = localMs, last = first] = instants
      return changeBetween(first, last)
    },
  }
}
