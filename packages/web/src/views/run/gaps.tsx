import type { ClewEvent } from '@clew/ledger'
import { formatExact, runPath, useClient } from '@clew/react'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { ReactElement } from 'react'

interface RunGap {
  readonly kind: 'erased' | 'pruned'
  readonly fromSeq: number
  readonly toSeq: number
  readonly at: string
  readonly by: string | null
  readonly rule: string | null
}

/** Ranges of a run that can no longer be read; requested only if something is missing. */
function useGaps(runId: string, enabled = true): UseQueryResult<readonly RunGap[]> {
  const client = useClient()
  return useQuery({
    queryKey: ['gaps', runId],
    enabled,
    staleTime: 60_000,
    queryFn: async ({ signal }) =>
      (await client.get<{ gaps: readonly RunGap[] }>(runPath(runId), { steps: 0, gaps: true }, signal)).gaps,
  })
}

interface MissingProps {
  readonly runId: string
  readonly place: Pick<ClewEvent['ledger'], 'seq' | 'pruned'>
}

/** Says of an event that its payload is gone: whether it was erased or pruned, since when, and by whom. */
export function Missing({ runId, place: { seq, pruned } }: MissingProps): ReactElement {
  const { data } = useGaps(runId)
  const gaps = data?.filter(({ fromSeq, toSeq }) => fromSeq <= seq && seq <= toSeq) ?? []
  // A range of pruned states spans events that lost nothing by it.
  const gap = gaps.find(({ kind }) => kind === 'erased') ?? gaps[0]
  return (
    <span className="clew-chip clew-redacted" title={gap ? formatExact(gap.at) : undefined}>
      {gap ? tellGap(gap) : pruned ? 'pruned' : 'erased'}
    </span>
  )
}

const formatDay = (iso: string): string =>
  new Date(iso).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' })

const tellGap = ({ kind, at, by, rule }: RunGap): string =>
  [`${kind} on ${formatDay(at)}`, by === null ? '' : ` by ${by}`, rule === null ? '' : ` (${rule})`].join('')

/** Ranges of the run that retention took, said above what is left. */
export function PrunedNote({
  runId,
  hasGaps,
}: {
  readonly runId: string
  readonly hasGaps: boolean
}): ReactElement | null {
  const { data } = useGaps(runId, hasGaps)
  const pruned = data?.filter(({ kind }) => kind === 'pruned') ?? []
  if (pruned.length === 0) return null
  return (
    <p className="gap-note" role="note">
      {pruned.map((gap) => `Events ${gap.fromSeq} to ${gap.toSeq} were ${tellGap(gap)}.`).join(' ')}
    </p>
  )
}
