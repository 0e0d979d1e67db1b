export interface WordPart {
  readonly kind: 'same' | 'gone' | 'new'
  readonly text: string
}

/** Beyond this many pairs of words the middle is shown as replaced as a whole. */
const MAX_CELLS = 400_000

/** Two texts as words that stayed, went and came, in order. */
export function diffWords(a: string, b: string): WordPart[] {
  const from = wordsOf(a)
  const to = wordsOf(b)
  let start = 0
  while (start < from.length && start < to.length && from[start] === to[start]) start++
  let end = 0
  while (
    end < from.length - start &&
    end < to.length - start &&
    from[from.length - 1 - end] === to[to.length - 1 - end]
  )
    end++
  const parts: WordPart[] = []
  const add = (kind: WordPart['kind'], words: readonly string[]): void => {
    if (words.length > 0) parts.push({ kind, text: words.join('') })
  }
  add('same', from.slice(0, start))
  parts.push(...diffMiddle(from.slice(start, from.length - end), to.slice(start, to.length - end)))
  add('same', from.slice(from.length - end))
  return merged(parts)
}

const wordsOf = (text: string): string[] => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []

function diffMiddle(from: readonly string[], to: readonly string[]): WordPart[] {
  if (from.length * to.length > MAX_CELLS)
    return [
      { kind: 'gone', text: from.join('') },
      { kind: 'new', text: to.join('') },
    ]
  const width = to.length + 1
  const longest = new Uint32Array((from.length + 1) * width)
  const at = (x: number, y: number): number => longest[x * width + y] ?? 0
  for (let x = from.length - 1; x >= 0; x--)
    for (let y = to.length - 1; y >= 0; y--)
      longest[x * width + y] = from[x] === to[y] ? at(x + 1, y + 1) + 1 : Math.max(at(x + 1, y), at(x, y + 1))
  const parts: WordPart[] = []
  let x = 0
  let y = 0
  while (x < from.length || y < to.length) {
    const gone = from[x]
    const came = to[y]
    if (gone !== undefined && gone === came) {
      parts.push({ kind: 'same', text: gone })
      x++
      y++
    } else if (gone !== undefined && (came === undefined || at(x + 1, y) >= at(x, y + 1))) {
      parts.push({ kind: 'gone', text: gone })
      x++
    } else {
      parts.push({ kind: 'new', text: came ?? '' })
      y++
    }
  }
  return parts
}

/** Neighbours of one kind are one part. */
function merged(parts: readonly WordPart[]): WordPart[] {
  const all: WordPart[] = []
  for (const part of parts) {
    const last = all.at(-1)
    if (last?.kind === part.kind) all[all.length - 1] = { kind: part.kind, text: last.text + part.text }
    else all.push(part)
  }
  return all
}
