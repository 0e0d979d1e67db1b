/** Ids of books begin with this: records that belong to no agent's run, such as the messages of a stream. */
export const BOOK_PREFIX = 'clew:'

/** `clew:<kind>/<name>`, or `clew:<kind>` for the only one of its kind. */
export const bookId = (kind: string, name?: string): string =>
  `${BOOK_PREFIX}${kind}${name === undefined ? '' : `/${name}`}`

export const isBook = (runId: string): boolean => runId.startsWith(BOOK_PREFIX)

/** Ids from one text on and before another. */
export interface IdRange {
  readonly from: string
  readonly to: string
}
/** All books, and all of a kind: `;` follows `:`, and `0` follows `/`. */
export const BOOKS: IdRange = { from: BOOK_PREFIX, to: 'clew;' }
export const booksOf = (kind: string): IdRange => ({ from: bookId(kind, ''), to: `${bookId(kind)}0` })
