import type { ItemReference } from '@clew/ledger'
import { JsonTree, runPath, useClient } from '@clew/react'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../parts/note.tsx'
import { ValueDiffs } from '../../parts/value-diffs.tsx'

interface Side {
  readonly runId: string
  readonly item: ItemReference | null
}

/** One row of a comparison, opened: the values that differ, whole. */
export function RowDiff({ a, b }: { readonly a: Side; readonly b: Side }): ReactElement {
  const left = useItemValue(a)
  const right = useItemValue(b)
  const error = left.error ?? right.error
  if (error) return <ErrorNote error={error} />
  if (left.isLoading || right.isLoading) return <p className="quiet">Reading…</p>
  if (a.item === null || b.item === null)
    return (
      <div className="row-diff">
        <JsonTree value={(a.item === null ? right.data : left.data) ?? null} label="all of it" open />
      </div>
    )
  return <ValueDiffs a={left.data} b={right.data} />
}

/** What a step was given and came to, or what an event says. */
function useItemValue({ runId, item }: Side): UseQueryResult {
  const client = useClient()
  return useQuery({
    queryKey: ['item', runId, item?.stepId ?? item?.seq],
    enabled: item !== null,
    queryFn: async ({ signal }) => {
      if (item?.stepId != null) {
        const path = `${runPath(runId)}/steps/${encodeURIComponent(item.stepId)}`
        const { step, input, values } = await client.get<{
          readonly step: {
            readonly status: string
            readonly error: { readonly message: string | null } | null
          }
          readonly input: unknown
          readonly values: unknown
        }>(path, {}, signal)
        return { status: step.status, error: step.error?.message ?? null, input, output: values }
      }
      const query = { afterSeq: (item?.seq ?? 1) - 1, limit: 1 }
      const { events } = await client.get<{ readonly events: readonly { readonly payload: unknown }[] }>(
        `${runPath(runId)}/events`,
        query,
        signal,
      )
      const payload = events[0]?.payload ?? null
      const content = isObject(payload) ? payload['content'] : undefined
      return content === undefined
        ? payload
        : { content, ...(isObject(payload) && { calls: payload['tool_calls'] }) }
    },
  })
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
