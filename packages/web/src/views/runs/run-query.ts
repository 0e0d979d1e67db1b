import {
  isEventField,
  QUERY_FIELD_NAMES,
  QUERY_FIELDS,
  RUN_SORTS,
  RUN_STATUSES,
  splitQuery,
} from '@clew/ledger'

export type RunsRequest =
  | { readonly path: '/v1/runs'; readonly query: { readonly q?: string; readonly scores?: string } }
  | { readonly path: '/v1/search'; readonly query: { readonly query: string } }

/** The list of runs answers fields of runs; words, and fields of single events, go to the search. */
export function toRequest(q: string | undefined): RunsRequest {
  const parts = splitQuery(q ?? '')
  // Conditions on scores are a filter of the list beside the query.
  const scores = parts.filter(isScore).map(({ value }) => value)
  const items = parts.filter((item) => !isScore(item)).map((item) => item.text.replace(/^(-?)text:/i, '$1'))
  const query = items.join(' ')
  const isSearch = splitQuery(query).some(
    ({ field }) =>
      field === null || QUERY_FIELD_NAMES.some((name) => name === field.toLowerCase() && isEventField(name)),
  )
  if (isSearch) return { path: '/v1/search', query: { query } }
  return {
    path: '/v1/runs',
    query: { ...(query !== '' && { q: query }), ...(scores.length > 0 && { scores: scores.join(',') }) },
  }
}

const isScore = ({ field }: { readonly field: string | null }): boolean => field?.toLowerCase() === 'score'

/** How the list is ordered, and the query that orders it by another column; the same column twice turns it round. */
export function sortOf(q: string | undefined): string | undefined {
  return splitQuery(q ?? '').findLast(({ field }) => field?.toLowerCase() === 'sort')?.value
}

export function sortedBy(q: string | undefined, column: string): string {
  const others = splitQuery(q ?? '').filter(({ field }) => field?.toLowerCase() !== 'sort')
  const sort = sortOf(q) === `-${column}` ? `sort:${column}` : `sort:-${column}`
  return [...others.map(({ text }) => text), sort].join(' ')
}

/** Completions for the last part of the query. */
export function completions(
  draft: string,
  agents: readonly string[],
): { readonly text: string; readonly about: string }[] {
  const [, field, begun = ''] = /^([a-z]+):(.*)$/i.exec(draft) ?? []
  const fitting = (values: readonly string[], about = ''): { text: string; about: string }[] =>
    values
      .filter((value) => value.startsWith(begun.toLowerCase()))
      .map((value) => ({ text: `${field}:${value}`, about }))
  if (field === undefined)
    return [
      ...QUERY_FIELD_NAMES.map((name) => ({ text: `${name}:`, about: QUERY_FIELDS[name].about })),
      { text: 'score:', about: 'a score fits: correct<1' },
    ].filter(({ text }) => text.startsWith(draft.toLowerCase()))
  const values = VALUES[field.toLowerCase()]
  if (values) return fitting(values)
  if (field === 'agent')
    return agents
      .filter((name) => name.toLowerCase().startsWith(begun.toLowerCase()))
      .map((name) => ({ text: `agent:${quoted(name)}`, about: '' }))
  return []
}

const VALUES: Readonly<Record<string, readonly string[]>> = {
  status: RUN_STATUSES,
  since: ['15m', '1h', '24h', '7d'],
  cost: ['>0.01', '>0.1', '>1'],
  tokens: ['>1k', '>10k', '>100k'],
  duration: ['>10s', '>1m', '>10m'],
  sort: RUN_SORTS.map((by) => `-${by}`),
}

const quoted = (value: string): string => (/\s/.test(value) ? `"${value}"` : value)
