/** One part of a query: `status:failed`, `-tool:search`, `"barn owls"`, a word. */
export interface QueryItem {
  /** Place in the query, from 0. */
  readonly at: number
  /** The part as it was written. */
  readonly text: string
  readonly negated: boolean
  /** Name before the colon, as it was written; null for words. */
  readonly field: string | null
  readonly value: string
  readonly quoted: boolean
  /** False if its quotation mark is never closed: the value then goes to the end of the query. */
  readonly isClosed: boolean
}

/** The parts of a query, whether they can be answered or not: for the parser and for fields where a query is typed. */
export function splitQuery(query: string): QueryItem[] {
  const items: QueryItem[] = []
  for (let at = 0; at < query.length; ) {
    if (/\s/.test(query[at] as string)) {
      at++
      continue
    }
    const start = at
    const negated = query[at] === '-'
    if (negated) at++
    const field = /^([\p{L}_][\p{L}\p{N}_.-]{0,199}):(?!\/\/)/u.exec(query.slice(at, at + 204))?.[1] ?? null
    if (field !== null) at += field.length + 1
    const quoted = query[at] === '"'
    const end = quoted ? query.indexOf('"', at + 1) : endOfWord(query, at)
    const isClosed = end >= 0
    const star = quoted && isClosed && query[end + 1] === '*'
    const inner = query.slice(quoted ? at + 1 : at, isClosed ? end : undefined)
    at = isClosed ? end + (quoted ? 1 : 0) + (star ? 1 : 0) : query.length
    const value = star ? `${inner}*` : inner
    items.push({ at: start, text: query.slice(start, at), negated, field, value, quoted, isClosed })
  }
  return items
}

export const joinQuery = (items: readonly QueryItem[]): string => items.map(({ text }) => text).join(' ')

function endOfWord(text: string, at: number): number {
  let end = at
  while (end < text.length && !/[\s"]/.test(text[end] as string)) end++
  return end
}
