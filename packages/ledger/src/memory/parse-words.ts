import { ClewError } from '../errors.ts'
import type { Phrase } from '../search/search-index.ts'
import { tokenize } from '../search/tokens.ts'

/** Query: any of the words, all of the phrases, none of the excluded words. */
export interface MemoryQuery {
  readonly words: readonly Phrase[]
  readonly all: readonly Phrase[]
  readonly none: readonly Phrase[]
}

/** More words than this say no more about what is meant. */
const MAX_WORDS = 24
const PART = /(-?)"([^"]*)"(\*?)|(-?)([^\s"]+)/g

/**
 * Reads a query in plain words, such as a question of a user: each word may be there, the more and the rarer the better.
 * `"words between marks"` must be there as they stand, `begin*` stands for all words that begin so, and `-not` for what
 * must not be there. Nothing in it is wrong, but that it has no word at all.
 */
export function parseWords(text: string): MemoryQuery {
  const words = new Map<string, Phrase>()
  const all: Phrase[] = []
  const none: Phrase[] = []
  for (const [, minus, quoted, star, minusWord, word = ''] of text.matchAll(PART)) {
    const isQuoted = quoted !== undefined
    const tokens = tokenize(isQuoted ? quoted : word).map((token) => token.text)
    const prefix = isQuoted ? star === '*' : word.endsWith('*')
    if (tokens.length === 0) continue
    const phrase = { tokens, prefix }
    if ((isQuoted ? minus : minusWord) === '-') none.push(phrase)
    else if (isQuoted) all.push(phrase)
    else
      for (const [at, token] of tokens.entries())
        words.set(token, { tokens: [token], prefix: prefix && at === tokens.length - 1 })
  }
  return {
    words: [...words.values()].slice(0, MAX_WORDS),
    all: all.slice(0, MAX_WORDS),
    none: none.slice(0, MAX_WORDS),
  }
}

export const isWordless = ({ words, all }: MemoryQuery): boolean => words.length + all.length === 0

export function assertWords(query: MemoryQuery): void {
  if (!isWordless(query)) return
  throw new ClewError(
    'bad_option',
    'The query has no word to look for',
    'Write what you look for in words; list the items to see all of them.',
    { option: 'query' },
  )
}
