/** Times that are printed and read lie close together: the text of a few seconds is remembered. */
const SLOTS = 4
const seconds: number[] = Array.from({ length: SLOTS }, () => Number.NaN)
/** Up to the point before the milliseconds. */
const beginnings: string[] = Array.from({ length: SLOTS }, () => '')
/** The last one whole: most are asked for again within their millisecond. */
let lastMs = Number.NaN
let lastText = ''
const MILLISECONDS = Array.from({ length: 1000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`)

/** `new Date(ms).toISOString()`, which is asked for several times with every event. */
export function isoText(ms: number): string {
  if (ms !== lastMs) {
    lastText = print(ms)
    // As `Date` has it: whole, and never -0.
    lastMs = Math.trunc(ms) + 0
  }
  return lastText
}

function print(ms: number): string {
  const second = Math.floor(ms / 1000)
  const slot = second & (SLOTS - 1)
  if (seconds[slot] === second) {
    const end = MILLISECONDS[ms - second * 1000]
    if (end !== undefined) return (beginnings[slot] as string) + end
  }
  const text = new Date(ms).toISOString()
  // Years of more than four digits, and parts of milliseconds, are left to `Date`.
  if (text.length === 24 && Number.isInteger(ms)) {
    seconds[slot] = second
    beginnings[slot] = text.slice(0, 20)
  }
  return text
}

/** `Date.parse(text)`, for texts that `isoText` has printed lately. */
export function isoMs(text: string): number {
  if (text === lastText) return lastMs
  if (text.length === 24 && text.charCodeAt(23) === 0x5a)
    for (let slot = 0; slot < SLOTS; slot++) {
      if (!text.startsWith(beginnings[slot] as string) || beginnings[slot] === '') continue
      const ms = digit(text, 20) * 100 + digit(text, 21) * 10 + digit(text, 22)
      if (ms >= 0) return (seconds[slot] as number) * 1000 + ms
    }
  return Date.parse(text)
}

/** A number so low that no sum with two digits is positive, if the character is no digit. */
function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - 0x30
  return value >= 0 && value <= 9 ? value : -10_000
}
