/** Words that stand for the rare ones of a language. */
export const WORDS = Array.from({ length: 5000 }, (_, n) => `w${(n * 7919).toString(36)}`)

/** A text of 24 words, the same for the same seed: half of them frequent, half of them rare, as in any text. */
export function makeText(seed: number, common: readonly string[]): string {
  let [x, result] = [seed * 2654435761 + 1, '']
  for (let i = 0; i < 24; i++) {
    x = (Math.imul(x, 1103515245) + 12345) >>> 0
    const list = x & 65536 ? WORDS : common
    result += `${list[(x >>> 8) % list.length]} `
  }
  return result
}
