const WORD = /[\p{L}\p{N}]+/gu
/** Longer ones are keys and digests, not words (as in the ledger's own search index). */
const MAX_WORD_CHARS = 64

export function wordsOf(text: string): Set<string> {
  const words = new Set<string>()
  for (const [word] of text.normalize('NFKC').toLowerCase().matchAll(WORD))
    if (word.length <= MAX_WORD_CHARS) words.add(word)
  return words
}

/** All words of an item that a query may find: of the whole value, or of the fields that its writer named. */
export function indexedWords(value: unknown, index: false | readonly string[] | undefined): Set<string> {
  const texts: string[] = []
  if (index === undefined) collect(value, texts)
  else if (index !== false)
    for (const path of index) for (const found of atPath(value, parsePath(path))) collect(found, texts)
  return wordsOf(texts.join('\n'))
}

/** The share of the query's words that the item has; 0 when none. */
export function scoreWords(query: ReadonlySet<string>, words: ReadonlySet<string>): number {
  let found = 0
  for (const word of query) if (words.has(word)) found++
  return query.size === 0 ? 0 : found / query.size
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value)
  else if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    texts.push(String(value))
  else if (value instanceof Date || value instanceof URL) texts.push(JSON.stringify(value))
  else if (value instanceof Map) for (const each of value) collect(each, texts)
  else if (Array.isArray(value) || value instanceof Set) for (const each of value) collect(each, texts)
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) collect(each, texts)
}

/** `metadata.title`, `chapters[*].content`, `authors[0].name`, `list[-1]`; `$` and nothing stand for the whole. */
function parsePath(path: string): string[] {
  return [...path.matchAll(/[^.[\]]+/g)].map(([part]) => part).filter((part) => part !== '$')
}

function atPath(value: unknown, path: readonly string[]): unknown[] {
  const [part, ...rest] = path
  if (part === undefined) return [value]
  if (typeof value !== 'object' || value === null) return []
  if (part === '*') return Object.values(value).flatMap((each: unknown) => atPath(each, rest))
  const next: unknown = Array.isArray(value)
    ? value.at(Number(part))
    : Object.hasOwn(value, part)
      ? Reflect.get(value, part)
      : undefined
  return next === undefined ? [] : atPath(next, rest)
}
