import type { RunSummary } from '../fold/run-summary.ts'
import type { NumberFilter, SearchQuery, TagFilter, ValueFilter } from '../search/search-index.ts'

/** Fields of a query about runs alone. */
export type RunConditions = Omit<SearchQuery, 'all' | 'none' | 'type' | 'tool' | 'sort'>

export const fitsRunConditions = (run: RunSummary, query: RunConditions): boolean =>
  fitsAll(query.run, [run.runId]) &&
  fitsAll(query.agent, [run.agent]) &&
  fitsAll(query.thread, [run.threadId]) &&
  fitsStatus(run, query) &&
  query.cost.every((filter) => fitsNumber(run.cost, filter)) &&
  (query.since === null || Date.parse(run.startedAt) >= Date.parse(query.since)) &&
  fitsSummary(run, query)

/** Whether the conditions that stores do not know fit: on tags, models, errors, sizes and times. */
export const fitsSummary = (run: RunSummary, query: RunConditions): boolean =>
  query.tag.every((filter) => fitsTag(run, filter)) &&
  fitsAll(query.model, run.models ?? []) &&
  query.error.every(({ text, negated }) => errorText(run).includes(text) !== negated) &&
  query.tokens.every((filter) => fitsNumber(run.inputTokens + run.outputTokens, filter)) &&
  query.duration.every((filter) => fitsNumber(run.durationMs, filter)) &&
  query.steps.every((filter) => fitsNumber(run.steps, filter))

export const hasSummaryConditions = ({
  tag,
  model,
  error,
  tokens,
  duration,
  steps,
}: RunConditions): boolean =>
  tag.length + model.length + error.length + tokens.length + duration.length + steps.length > 0

export const fitsStatus = ({ status }: RunSummary, query: Pick<RunConditions, 'status'>): boolean =>
  query.status.every(({ values, negated }) => values.includes(status) !== negated)

export function fitsAll(filters: readonly ValueFilter[], actual: readonly (string | null)[]): boolean {
  return filters.every(
    ({ values, negated }) =>
      values.some(({ text, prefix }) =>
        actual.some((each) => each !== null && (prefix ? each.startsWith(text) : each === text)),
      ) !== negated,
  )
}

/** An unknown number, such as the duration of a run that goes on, is neither above nor below any other. */
export function fitsNumber(value: number | null, { op, amount, negated }: NumberFilter): boolean {
  if (value === null || Number.isNaN(value)) return false
  const order = Math.sign(value - amount)
  const fits =
    (op.includes('<') && order < 0) || (op.includes('>') && order > 0) || (op.includes('=') && order === 0)
  return fits !== negated
}

function fitsTag({ tags }: RunSummary, { name, values, number, negated }: TagFilter): boolean {
  const value = Object.hasOwn(tags, name) ? (tags[name] ?? null) : null
  if (values) return fitsAll([{ values, negated }], [value])
  if (!number) return (value !== null) !== negated
  return fitsNumber(value === null || value.trim() === '' ? null : Number(value), { ...number, negated })
}

const errorText = ({ error }: RunSummary): string =>
  error ? [error.name, error.code, error.message].join('\n').toLowerCase() : ''
