/**
 * Finds all keywords in one pass over a text (Aho–Corasick), without regard to case. The time depends on the length of the
 * text, not on the number of keywords.
 */
export interface Automaton {
  /** Calls `visit` with each keyword's index and the position behind it. Returns where an unfinished keyword begins at the end. */
  find(text: string, visit: (keyword: number, end: number) => void): number
}

const ASCII = 128

export function createAutomaton(keywords: readonly string[]): Automaton {
  const classOf = new Uint8Array(ASCII)
  let width = 1
  for (const char of new Set(keywords.join('').toLowerCase())) {
    classOf[char.charCodeAt(0)] = width
    classOf[char.toUpperCase().charCodeAt(0)] = width++
  }
  const most = keywords.reduce((sum, { length }) => sum + length, 1)
  // Row of state s starts at s * width. State 0 is the root; every character outside the keywords leads back to it.
  const next = new Int32Array(most * width)
  const depths = new Uint8Array(most)
  const found: number[][] = [[]]
  for (const [index, keyword] of keywords.entries()) {
    let state = 0
    for (const char of keyword) {
      const at = state * width + (classOf[char.charCodeAt(0)] as number)
      if (next[at] === 0) {
        depths[found.length] = (depths[state] as number) + 1
        next[at] = found.length
        found.push([])
      }
      state = next[at] as number
    }
    found[state]?.push(index)
  }
  link(next, found, width)
  const ends = Uint8Array.from(found, (each) => (each.length > 0 ? 1 : 0))
  for (let at = 0; at < next.length; at++) next[at] = (next[at] as number) * width

  return {
    find(text, visit) {
      let state = 0
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at)
        state = code < ASCII ? (next[state + (classOf[code] as number)] as number) : 0
        if (state !== 0 && ends[state / width] === 1)
          for (const keyword of found[state / width] as number[]) visit(keyword, at + 1)
      }
      return text.length - (depths[state / width] as number)
    },
  }
}

/** Completes the trie to an automaton: a missing child is that of the state's longest proper suffix. */
function link(next: Int32Array, found: number[][], width: number): void {
  const suffixes = new Int32Array(found.length)
  const queue: number[] = []
  for (let step = 1; step < width; step++) if (next[step] !== 0) queue.push(next[step] as number)
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] as number
    const suffix = suffixes[state] as number
    found[state]?.push(...(found[suffix] as number[]))
    for (let step = 1; step < width; step++) {
      const at = state * width + step
      const fallback = next[suffix * width + step] as number
      const child = next[at] as number
      if (child === 0) {
        next[at] = fallback
        continue
      }
      suffixes[child] = fallback
      queue.push(child)
    }
  }
}
