/** A word longer than this is not searched: it is a hash, a key or a picture, never something that people type. */
export const MAX_TOKEN_CHARS = 64

// Scripts without spaces: each sign is a word of its own, so that any part of a sentence is found as a phrase.
const TOKEN =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[[\p{L}\p{N}\p{M}\p{Co}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]]+/gv
const NOT_TOKEN = /[^\p{L}\p{N}\p{Co}]+/gu
// oxlint-disable-next-line no-control-regex -- plain ASCII is the common case
const ASCII = /^[\u0000-\u007f]*$/
const LONG_ASCII = /[A-Za-z0-9]{65,}/g

export interface Token {
  /** Folded: small letters without marks. */
  readonly text: string
  readonly start: number
  readonly end: number
}

function foldWord(word: string): string {
  if (ASCII.test(word)) return word.toLowerCase()
  return word.normalize('NFKD').replace(NOT_TOKEN, '').normalize('NFC').toLowerCase()
}

/** The words of a text, folded, with their places in it. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  for (const { 0: whole, index } of text.matchAll(TOKEN)) {
    const folded = foldWord(whole)
    if (folded !== '' && folded.length <= MAX_TOKEN_CHARS)
      tokens.push({ text: folded, start: index, end: index + whole.length })
  }
  return tokens
}

/** The text as it goes into an index: any tokenizer that splits at everything but letters and digits agrees on it. */
export function indexText(text: string): string {
  if (ASCII.test(text)) return text.replace(LONG_ASCII, ' ').toLowerCase()
  return tokenize(text)
    .map((token) => token.text)
    .join(' ')
}

/** The words of a text that `indexText` gave. */
export const indexedTokens = (text: string): string[] => text.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []
