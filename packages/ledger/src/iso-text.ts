/** A few, because the times of a step alternate with those of its events. */
const SLOTS = 4
const times: number[] = Array.from({ length: SLOTS }, () => Number.NaN)
const texts: string[] = Array.from({ length: SLOTS }, () => '')

/** `new Date(ms).toISOString()`, which is asked for many times within one millisecond. */
export function isoText(ms: number): string {
  const slot = Math.abs(ms % SLOTS)
  if (times[slot] === ms) return texts[slot] as string
  const text = new Date(ms).toISOString()
  if (Number.isInteger(slot)) {
    times[slot] = ms
    texts[slot] = text
  }
  return text
}

/** `Date.parse(text)`, which is asked for the same few times again and again. */
export function isoMs(text: string): number {
  for (let slot = 0; slot < SLOTS; slot++) if (texts[slot] === text) return times[slot] as number
  return Date.parse(text)
}
