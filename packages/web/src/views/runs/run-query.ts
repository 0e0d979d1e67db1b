import { RUN_STATUSES } from '@clew/ledger'

/** One part of a filter: `status:failed`, `-tool:search`, `"barn owls"`, a word. */
export interface QueryItem {
  readonly text: string
  readonly field: string | null
  readonly value: string
}

const FIELDS: Readonly<Record<string, string>> = {
  status: 'where the run stands',
  agent: 'whose run it is',
  since: 'began since: 15m, 1h, 7d',
  tool: 'called this tool',
  cost: 'dollars: >0.05',
  thread: 'of this thread',
  type: 'has such events',
  score: 'a score fits: correct<1',
  tag: 'has this tag: name=value',
  run: 'id, or how it begins: demo*',
}

/** The parts of a filter as they were written; an open quotation goes to the end. */
export function splitQuery(query: string): QueryItem[] {
  const parts = query.match(/-?(?:[a-z]+:)?(?:"[^"]*"?\*?|[^\s"]+)+/gi) ?? []
  return parts.map((text) => {
    const [, field = null, value = text] = /^-?([a-z]+):(.*)$/is.exec(text) ?? []
    return { text, field: field?.toLowerCase() ?? null, value: value.replaceAll('"', '') }
  })
}

export const joinQuery = (items: readonly QueryItem[]): string => items.map(({ text }) => text).join(' ')

/** Filters that the list of runs supports; all other words go to the search. */
const PLAIN: Readonly<Record<string, string>> = {
  status: 'status',
  agent: 'agent',
  thread: 'threadId',
  since: 'since',
  score: 'scores',
  tag: 'tags',
}

export type RunsRequest =
  | { readonly path: '/v1/runs'; readonly query: Readonly<Record<string, string>> }
  | { readonly path: '/v1/search'; readonly query: { readonly query: string } }

export function toRequest(q: string | undefined): RunsRequest {
  const items = splitQuery(q ?? '')
  const query: Record<string, string> = {}
  for (const { field, value, text } of items) {
    const name = field === null ? undefined : PLAIN[field]
    if (name === undefined || text.startsWith('-') || /[,*]/.test(value) || Object.hasOwn(query, name))
      return { path: '/v1/search', query: { query: items.map(withoutText).join(' ') } }
    query[name] = value
  }
  return { path: '/v1/runs', query }
}

/** `text:` says that words follow, which search knows anyway. */
const withoutText = ({ text }: QueryItem): string => text.replace(/^(-?)text:/i, '$1')

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
    return Object.entries(FIELDS)
      .filter(([name]) => name.startsWith(draft.toLowerCase()))
      .map(([name, about]) => ({ text: `${name}:`, about }))
  if (field === 'status') return fitting(RUN_STATUSES)
  if (field === 'since') return fitting(['15m', '1h', '24h', '7d'])
  if (field === 'cost') return fitting(['>0.01', '>0.1', '>1'])
  if (field === 'agent')
    return agents
      .filter((name) => name.toLowerCase().startsWith(begun.toLowerCase()))
      .map((name) => ({ text: `agent:${quoted(name)}`, about: '' }))
  return []
}

const quoted = (value: string): string => (/\s/.test(value) ? `"${value}"` : value)
