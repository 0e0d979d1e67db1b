import type { RunSummary } from '@clew/ledger'
import { previewValue, runPath, shortenId, StatusMark, useClient, wordsOf } from '@clew/react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'

interface Shown {
  readonly run: RunSummary
  readonly values: { readonly input: unknown; readonly output: unknown } | null
}

/** One of two compared runs: what it was asked, and what came of it. */
export function SideHead({ runId, status }: Pick<RunSummary, 'runId' | 'status'>): ReactElement {
  const client = useClient()
  const { data } = useQuery({
    queryKey: ['side', runId, status],
    queryFn: ({ signal }) => client.get<Shown>(runPath(runId), { steps: 0, values: true }, signal),
  })
  const asked = wordsOf(data?.values?.input)
  const output = data?.values?.output
  const outcome =
    status === 'failed'
      ? (data?.run.error?.message ?? 'it failed')
      : output === null || output === undefined
        ? null
        : typeof output === 'string'
          ? output
          : previewValue(output, 300)
  return (
    <div className="side-of">
      <p>
        <StatusMark status={status} compact />
        <Link to="/runs/$runId" params={{ runId }} search={{}} className="run-link clew-mono">
          {shortenId(runId, 34)}
        </Link>
      </p>
      {asked !== null && (
        <p className="side-asked" dir="auto" title={asked}>
          {asked.slice(0, 200)}
        </p>
      )}
      {outcome !== null && (
        <p className={status === 'failed' ? 'side-outcome bad' : 'side-outcome'} dir="auto">
          {outcome.slice(0, 600)}
        </p>
      )}
    </div>
  )
}
