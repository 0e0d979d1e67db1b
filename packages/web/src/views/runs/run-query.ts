import {
  isEventField,
  QUERY_FIELD_NAMES,
  QUERY_FIELDS,
  RUN_SORTS,
  RUN_STATUSES,
  splitQuery,
} from '@clew/ledger'

export type RunsRequest =
  | { readonly path: '/v1/runs'; readonly query: { readonly q?: string } }
  | { readonly path: '/v1/search'; readonly query: { readonly query: string } }

/** The list of runs answers fields of runs; words, and fields of single events, go to the search. */
export function toRequest(q: string | undefined): RunsRequest {
  const items = splitQuery(q ?? '').map((item) => item.text.replace(/^(-?)text:/i, '$1'))
  const query = items.join(' ')
  const isSearch = splitQuery(query).some(
    ({ field }) =>
      field === null || QUERY_FIELD_NAMES.some((name) => name === field.toLowerCase() && isEventField(name)),
  )
  if (isSearch) return { path: '/v1/search', query: { query } }
  return { path: '/v1/runs', query: query === '' ? {} : { q: query } }
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
    return QUERY_FIELD_NAMES.filter((name) => name.startsWith(draft.toLowerCase())).map((name) => ({
      text: `${name}:`,
      about: QUERY_FIELDS[name].about,
    }))
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
