import type { RunSummary } from '@clew/ledger'
import { formatCount, formatTook, formatMoney, shortenId, spellBidi, StatusMark } from '@clew/react'
import { Link } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { memo, type ReactElement } from 'react'
import { Ago, useNow } from '../../parts/ago.tsx'
import { Sparkline } from './sparkline.tsx'
import { useActivity, useFirstWords } from './use-glance.ts'
import type { Hit } from './use-runs.ts'

interface RunRowProps {
  readonly hit: Hit
  readonly isHere: boolean
  readonly isSelected: boolean
  readonly onSelect: (runId: string) => void
}

export const RunRow = memo(function RunRow({ hit, isHere, isSelected, onSelect }: RunRowProps): ReactElement {
  const { run, found } = hit
  const words = useFirstWords(run.runId)
  const steps = useActivity(run)
  const tokens = run.inputTokens + run.outputTokens
  return (
    <div
      className="run-row"
      role="row"
      data-here={isHere}
      data-selected={isSelected}
      aria-selected={isSelected}
    >
      <span role="cell" className="run-check">
        <button
          type="button"
          role="checkbox"
          aria-checked={isSelected}
          aria-label={`Select ${run.runId}`}
          onClick={() => onSelect(run.runId)}
        >
          {isSelected && <Check size={12} aria-hidden="true" />}
        </button>
      </span>
      <span role="cell" className="run-status">
        <StatusMark status={run.status} />
      </span>
      <span role="cell" className="run-agent">
        <Link
          to="/runs/$runId"
          params={{ runId: run.runId }}
          search={found ? { tab: 'events', event: found.seq } : {}}
          aria-label={`Open ${run.agent ?? 'run'} ${run.runId}`}
        >
          {spellBidi(run.agent ?? shortenId(run.runId))}
        </Link>
      </span>
      <span role="cell" className="run-words" dir="auto">
        {run.forkedFrom && <span className="clew-chip">fork</span>}
        {run.replay && <span className="clew-chip">replay</span>}
        <WaitingFor run={run} />
        {run.scores
          .filter(({ stepId }) => stepId === null)
          .slice(0, 2)
          .map(({ name, value, by, why }) => (
            <span
              key={`${name} ${by}`}
              className="clew-chip"
              title={`by ${by}${why === null ? '' : `: ${why}`}`}
            >
              {name} {String(value)}
            </span>
          ))}
        {found ? (
          <mark>{spellBidi(found.text)}</mark>
        ) : (
          <>
            {words ? spellBidi(words) : <span className="quiet clew-mono">{shortenId(run.runId, 28)}</span>}
          </>
        )}
      </span>
      <span role="cell" className="run-spark">
        {steps.length > 1 && <Sparkline steps={steps} />}
      </span>
      <span role="cell" className="run-number">
        {run.steps > 0 ? formatCount(run.steps) : <Nothing />}
      </span>
      <span role="cell" className="run-number">
        {tokens > 0 ? formatCount(tokens) : <Nothing />}
      </span>
      <span
        role="cell"
        className="run-number"
        title={run.unpricedCalls > 0 ? `${run.unpricedCalls} calls without a known price` : undefined}
      >
        {run.cost === null ? <Nothing /> : formatMoney(run.cost)}
        {run.cost !== null && run.unpricedCalls > 0 ? '+' : ''}
      </span>
      <span role="cell" className="run-number">
        <Took run={run} />
      </span>
      <span role="cell" className="run-number run-ago">
        <Ago at={run.startedAt} />
      </span>
    </div>
  )
})

const Nothing = (): ReactElement => <span className="quiet">–</span>

function Took({ run }: { readonly run: RunSummary }): ReactElement {
  const now = useNow()
  if (run.durationMs !== null) return <>{formatTook(run.durationMs)}</>
  if (run.status !== 'running') return <Nothing />
  return <>{formatTook(Math.max(0, Math.round((now - Date.parse(run.startedAt)) / 1000) * 1000))}</>
}

function WaitingFor({ run }: { readonly run: RunSummary }): ReactElement | null {
  const [pause] = run.pauses
  if (run.status !== 'paused' || !pause) return null
  return <span className="clew-chip waits">waits for an answer</span>
}
