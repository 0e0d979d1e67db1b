import type { RunStatus } from '@clew/ledger'
import { formatDuration, runPath, shortenId, StatusMark, useClient } from '@clew/react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { GitCompareArrows } from 'lucide-react'
import type { ReactElement } from 'react'
import { Ago } from '../../parts/ago.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import type { TabProps } from './run-page.tsx'

interface LineageRow {
  readonly runId: string
  readonly relation: 'first' | 'turn' | 'fork' | 'retry' | 'child'
  readonly of: string | null
  readonly depth: number
  readonly status: RunStatus
  readonly agent: string | null
  readonly startedAt: string
  readonly durationMs: number | null
  readonly parted: {
    readonly seq: number
    readonly superstep: number | null
    readonly stepId: string | null
    readonly edited: string | null
  } | null
  readonly isNewest: boolean
}

interface Lineage {
  readonly threadId: string | null
  readonly runs: readonly LineageRow[]
  readonly more: boolean
}

/** Sources and descendants of the run: turns down the thread, forks to the side. */
export function LineageTab({ runId, view }: TabProps): ReactElement {
  const client = useClient()
  const { data, error } = useQuery({
    queryKey: ['lineage', runId, view.run?.status],
    queryFn: ({ signal }) => client.get<Lineage>(`${runPath(runId)}/lineage`, {}, signal),
  })
  if (error) return <ErrorNote error={error} />
  if (!data) return <p className="tab-empty">Loading related runs…</p>
  return (
    <div className="scroll tab-page">
      {data.threadId !== null && (
        <p className="quiet">
          Thread <span className="clew-mono">{data.threadId}</span>
        </p>
      )}
      <ol className="lineage">
        {data.runs.map((row) => (
          <li
            key={row.runId}
            data-here={row.runId === runId}
            data-relation={row.relation}
            style={{ paddingInlineStart: Math.min(row.depth, 20) * 22 }}
          >
            <span className="lineage-knot" aria-hidden="true" />
            <span className="lineage-how quiet">{row.relation}</span>
            <Link
              to="/runs/$runId"
              params={{ runId: row.runId }}
              search={{ tab: 'lineage' }}
              aria-current={row.runId === runId ? 'page' : undefined}
            >
              <b>{row.agent ?? 'run'}</b> <span className="clew-mono">{shortenId(row.runId, 30)}</span>
            </Link>
            <span className="lineage-facts">
              <StatusMark status={row.status} />
              <span className="clew-mono quiet">{formatDuration(row.durationMs)}</span>
              <span className="quiet">
                <Ago at={row.startedAt} />
              </span>
              {row.parted && (
                <span className="quiet">
                  left at {row.parted.stepId ?? `seq ${row.parted.seq}`}
                  {row.parted.edited !== null && `, with another ${row.parted.edited}`}
                </span>
              )}
              {row.isNewest && <span className="clew-chip">newest</span>}
              {row.runId !== runId && (
                <Link
                  to="/compare"
                  search={{ a: runId, b: row.runId }}
                  className="icon-button"
                  aria-label={`Compare with ${row.runId}`}
                  title="Compare"
                >
                  <GitCompareArrows size={14} aria-hidden="true" />
                </Link>
              )}
            </span>
          </li>
        ))}
      </ol>
      {data.more && <p className="quiet">Older runs of the thread are left out.</p>}
    </div>
  )
}
