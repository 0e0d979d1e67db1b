import { type MatchCondition, InvalidNamespaceError } from '@langchain/langgraph-checkpoint'

/** Labels hold no period, so that the text of a namespace names exactly one. */
export const formatNamespace = (labels: readonly string[]): string => labels.join('.')
export const parseNamespace = (text: string): string[] => text.split('.')

/** The framework checks this in `put` alone, and not where a node's store does the putting. */
export function assertNamespace(labels: readonly unknown[]): asserts labels is readonly string[] {
  if (!Array.isArray(labels) || labels.length === 0)
    throw new InvalidNamespaceError('A namespace needs at least one label; nothing was written.')
  for (const [at, label] of labels.entries()) {
    if (typeof label !== 'string' || label === '')
      throw new InvalidNamespaceError(
        `Label ${at} of the namespace is ${label === '' ? 'empty' : `a ${typeof label}`}; it must be text. Nothing was written.`,
      )
    if (label.includes('.'))
      throw new InvalidNamespaceError(
        `Label ${at} of the namespace contains a period, which parts labels; nothing was written.`,
      )
  }
  if (labels[0] === 'langgraph')
    throw new InvalidNamespaceError(
      'A namespace cannot begin with the label "langgraph": the framework keeps it for itself. Nothing was written.',
    )
}

export const startsWith = (labels: readonly string[], prefix: readonly string[]): boolean =>
  prefix.length <= labels.length && prefix.every((label, at) => labels[at] === label)

function matches(labels: readonly string[], { matchType, path }: MatchCondition): boolean {
  const shift = matchType === 'suffix' ? labels.length - path.length : 0
  return (
    path.length <= labels.length && path.every((label, at) => label === '*' || labels[at + shift] === label)
  )
}

/** Label by label and by code unit: the same order in every locale. */
function compareLabels(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [left, right] = [a[at] as string, b[at] as string]
    if (left !== right) return left < right ? -1 : 1
  }
  return a.length - b.length
}

export interface NamespaceQuery {
  readonly matchConditions?: readonly MatchCondition[] | undefined
  readonly maxDepth?: number | undefined
  readonly limit: number
  readonly offset: number
}

export function selectNamespaces(
  all: Iterable<readonly string[]>,
  { matchConditions = [], maxDepth, limit, offset }: NamespaceQuery,
): string[][] {
  const found = new Map<string, string[]>()
  for (const labels of all) {
    if (!matchConditions.every((condition) => matches(labels, condition))) continue
    const cut = labels.slice(0, maxDepth)
    found.set(formatNamespace(cut), cut)
  }
  return [...found.values()].sort(compareLabels).slice(offset, offset + limit)
}
