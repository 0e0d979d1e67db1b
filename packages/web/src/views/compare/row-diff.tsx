import type { ItemReference } from '@clew/ledger'
import { JsonTree, runPath, useClient } from '@clew/react'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../parts/note.tsx'
import { diffValues, type ValueDiff } from './value-diff.ts'
import { diffWords } from './word-diff.ts'

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
  const places = diffValues(left.data, right.data)
  if (places.length === 0)
    return (
      <p className="row-diff quiet">The recorded values are the same; only their order or number differs.</p>
    )
  return (
    <dl className="row-diff">
      {places.map((place) => (
        <div key={place.path}>
          <dt className="clew-mono">{place.path === '' ? 'all of it' : place.path}</dt>
          <dd>
            <Difference {...place} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Difference({ a, b }: ValueDiff): ReactElement {
  if (typeof a === 'string' && typeof b === 'string')
    return (
      <p className="word-diff" dir="auto">
        {diffWords(a, b).map(({ kind, text }, at) => {
          // The parts of two texts that never change are their places.
          // oxlint-disable-next-line react/no-array-index-key
          return kind === 'same' ? (
            <span key={at}>{text}</span>
          ) : kind === 'gone' ? (
            <del key={at}>{text}</del>
          ) : (
            <ins key={at}>{text}</ins>
          )
        })}
      </p>
    )
  return (
    <>
      {a !== undefined && (
        <del>
          <Value value={a} />
        </del>
      )}
      {b !== undefined && (
        <ins>
          <Value value={b} />
        </ins>
      )}
    </>
  )
}

const Value = ({ value }: { readonly value: unknown }): ReactElement =>
  typeof value === 'object' && value !== null ? (
    <JsonTree value={value} label="value" />
  ) : (
    <span className="clew-mono">{typeof value === 'string' ? value : JSON.stringify(value)}</span>
  )

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
