import { ClewError } from '../errors.ts'

/** A text of some hundred characters must be looked through faster than this. */
const MAX_MS = 50
const TRIES = 3
/** First where patterns explode, then where they only grow too fast. */
const LENGTHS = [8, 12, 16, 18, 20, 22, 24, 26, 28, 64, 128, 256, 512]
const CHARS = 6

/**
 * Refuses a pattern that would run away. It cannot be stopped once it runs, so it is tried before on texts that are made to
 * almost fit: what it repeats, again and again, and then something else.
 */
export function assertTame(kind: string, pattern: RegExp, now: () => number): void {
  const tried = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
  for (const length of LENGTHS)
    for (const text of textsFor(pattern.source, length)) {
      // Another program may have had the processor meanwhile: a slow pattern is slow each time.
      let best = Number.POSITIVE_INFINITY
      for (let n = 0; n < TRIES && best > MAX_MS; n++) {
        const began = now()
        tried.test(text)
        best = Math.min(best, now() - began)
      }
      if (best <= MAX_MS) continue
      throw new ClewError(
        'bad_option',
        `The pattern of the redaction rule ${kind} runs away: ${length} characters took it ${Math.round(best)} ms`,
        'Do not repeat what repeats itself: write [a-z]+ instead of ([a-z]+)+, and give repetitions an upper limit.',
        { option: 'redact', kind, length },
      )
    }
}

function textsFor(source: string, length: number): string[] {
  const chars = samplesOf(source)
  const units = [...chars, ...chars.flatMap((a) => chars.slice(0, 3).map((b) => a + b))]
  const start = /^\^?([\w -]+)/.exec(source)?.[1] ?? ''
  return units.flatMap((unit) => {
    const body = `${unit.repeat(Math.ceil(length / unit.length))}\u0001`
    return start === '' ? [body] : [body, start + body]
  })
}

/** Some of the characters that the pattern speaks of. */
function samplesOf(source: string): string[] {
  const found = new Set<string>()
  for (const [all, escaped] of source.matchAll(/\\(.)|[\w @.,:;/-]/gs)) {
    if (escaped === undefined) found.add(all)
    else found.add({ w: 'a', d: '0', s: ' ', S: 'x', W: '-', D: 'x' }[escaped] ?? escaped)
    if (found.size >= CHARS) break
  }
  return [...found.add('a')]
}
