import { hash } from 'node:crypto'

/** An entry of an index has at most 2,700 bytes, and names of several share one. */
const MAX_INDEX_TEXT_CHARS = 160
// oxlint-disable-next-line no-control-regex -- what PostgreSQL cannot keep as text
const NUL = /\u0000/

/**
 * A text as stored in an indexed column: itself, or, if it is long or holds what PostgreSQL cannot keep (NUL, halves
 * of surrogate pairs), its beginning and a digest. Queries by such a column use this, too.
 */
export function indexText(text: string): string {
  if (text.length <= MAX_INDEX_TEXT_CHARS && !NUL.test(text) && text.isWellFormed()) return text
  const begin = text
    .slice(0, MAX_INDEX_TEXT_CHARS - 70)
    .replaceAll('\u0000', '')
    .toWellFormed()
  return `${begin}\u0001${hash('sha256', Buffer.from(text, 'utf16le'), 'hex')}`
}

export const indexTextOrNull = (text: string | null): string | null =>
  text === null ? null : indexText(text)
