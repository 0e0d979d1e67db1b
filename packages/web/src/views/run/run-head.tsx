import type { RunSummary } from '@clew/ledger'
import { formatCount, formatTook, formatMoney, plural, shortenId, StatusMark, wordsOf } from '@clew/react'
import { Link } from '@tanstack/react-router'
import { CircleStop, GitFork, Play, RotateCcw } from 'lucide-react'
import { type ReactElement, useEffect, useState } from 'react'
import { editOf } from './branch-terms.tsx'
import { Scores } from './scores.tsx'
import { stepKey } from './step-key.ts'
import { useEvent } from './use-event.ts'
import { Ago } from '../../parts/ago.tsx'
import type { TabProps } from './run-page.tsx'

/** Header of a run: status, labelled figures and actions. */
export function RunHead({ run, view, choose }: TabProps & { readonly run: RunSummary }): ReactElement {
  const isOver = run.endedAt !== null
  const failed = view.steps.findLast(({ status }) => status === 'failed')
  const isHeld = view.owner?.state === 'alive'
  const canResume = !isOver && run.status !== 'paused' && !isHeld
  return (
    <div className="run-top">
      <div className="run-facts">
        <StatusMark status={run.status} />
        <span className="fact clew-mono">
          <Took run={run} />
        </span>
        <span className="fact">{plural(run.steps, 'step')}</span>
        {run.modelCalls > 0 && <Spent run={run} />}
        {run.errors > 0 && <span className="fact bad">{plural(run.errors, 'error')}</span>}
        <span className="fact quiet">
          started <Ago at={run.startedAt} />
        </span>
        {run.agentVersion !== null && <span className="fact quiet">v{run.agentVersion}</span>}
        {run.forkedFrom && (
          <span className="fact">
            fork of <RunLink runId={run.forkedFrom.runId} /> after event {run.forkedFrom.seq}{' '}
            <Edited runId={run.runId} seq={run.forkedFrom.seq + 1} />
            <Link to="/compare" search={{ a: run.forkedFrom.runId, b: run.runId }} className="run-link">
              beside it
            </Link>
          </span>
        )}
        {run.parentRunId !== null && (
          <span className="fact">
            child of <RunLink runId={run.parentRunId} />
          </span>
        )}
        {run.replay && (
          <span className="fact">
            replay of <RunLink runId={run.replay.sourceRunId} />: {run.replay.verdict ?? 'running'}
          </span>
        )}
        {run.status === 'paused' && (
          <span className="fact waits">
            paused <Ago at={run.updatedAt} />, waiting for:{' '}
            <button
              type="button"
              className="link"
              onClick={() => choose({ tab: 'transcript', at: undefined })}
            >
              {wordsOf(run.pauses[0]?.question) ?? 'an answer'}
            </button>
          </span>
        )}
        {run.status === 'failed' && (
          <span className="fact bad why">
            {run.error?.message ?? run.error?.name ?? 'it failed'}
            {failed && (
              <button
                type="button"
                className="link"
                onClick={() => choose({ step: stepKey(failed), event: undefined })}
              >
                at {failed.nodeName}
              </button>
            )}
          </span>
        )}
        <Scores runId={run.runId} scores={run.scores} />
        {run.stopRequested && !isOver && <span className="fact waits">asked to stop</span>}
        {!isOver && view.owner !== null && view.owner.state !== 'alive' && (
          <span className="fact waits">
            its process {view.owner.state === 'dead' ? 'is gone' : 'is silent'}
          </span>
        )}
      </div>
      <div className="run-acts">
        {canResume && (
          <button type="button" className="button" onClick={() => choose({ act: 'resume' })}>
            <Play size={13} aria-hidden="true" /> Resume…
          </button>
        )}
        {!isOver && (
          <button type="button" className="button" onClick={() => choose({ act: 'stop' })}>
            <CircleStop size={13} aria-hidden="true" /> Stop…
          </button>
        )}
        <button type="button" className="button" onClick={() => choose({ act: 'fork' })}>
          <GitFork size={13} aria-hidden="true" /> Fork…
        </button>
        <button type="button" className="button" onClick={() => choose({ act: 'replay' })}>
          <RotateCcw size={13} aria-hidden="true" /> Replay…
        </button>
      </div>
    </div>
  )
}

/** What was edited where a fork parts from its source. */
function Edited({ runId, seq }: { readonly runId: string; readonly seq: number }): ReactElement | null {
  const edit = editOf(useEvent(runId, seq).data)
  return edit === null ? null : <span className="clew-chip">{edit}</span>
}

/** Tokens and cost of model calls; nothing for a run without model calls. */
function Spent({ run }: { readonly run: RunSummary }): ReactElement {
  const { inputTokens, outputTokens, unpricedCalls, cost } = run
  return (
    <>
      <span
        className="fact"
        title={`${inputTokens.toLocaleString('en')} in, ${outputTokens.toLocaleString('en')} out`}
      >
        {formatCount(inputTokens + outputTokens)} tok
      </span>
      <span
        className="fact"
        title={unpricedCalls > 0 ? `${plural(unpricedCalls, 'call')} without a known price` : undefined}
      >
        {cost === null ? 'no price' : formatMoney(cost)}
        {cost !== null && unpricedCalls > 0 && '+'}
      </span>
    </>
  )
}

export function RunLink({ runId }: { readonly runId: string }): ReactElement {
  return (
    <Link to="/runs/$runId" params={{ runId }} search={{}} className="run-link clew-mono" title={runId}>
      {shortenId(runId, 28)}
    </Link>
  )
}

const TICK_MS = 500

function Took({ run }: { readonly run: RunSummary }): ReactElement {
  const isLive = run.durationMs === null && run.status === 'running'
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isLive) return undefined
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [isLive])
  if (run.durationMs !== null) return <>{formatTook(run.durationMs)}</>
  if (isLive) return <>{formatTook(Math.max(0, now - Date.parse(run.startedAt)))}</>
  return <>{formatTook(Math.max(0, Date.parse(run.updatedAt) - Date.parse(run.startedAt)))}</>
}
