import { plural, previewValue, runPath, useClient } from '@clew/react'
import { useMutation } from '@tanstack/react-query'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { Changes } from '../../parts/changes.tsx'
import { Command, shellWord } from '../../parts/command.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import type { ActProps } from './action-sheet.tsx'
import { RunLink } from './run-head.tsx'

const MODES = {
  're-execute': 'The code runs again; every effect is restored from the record. No outside call is made.',
  reconstruct: 'Nothing runs: the record is folded again and compared with the stored result.',
  'what-if': 'Like re-execute up to the selected step, then live: calls are made and cost money.',
} as const
type Mode = keyof typeof MODES

interface Divergence {
  readonly kind: string
  readonly step: string | null
  readonly stepId: string | null
  readonly expected: unknown
  readonly received: unknown
  readonly changes: readonly {
    readonly path: string
    readonly expected: string | null
    readonly received: string | null
  }[]
}

interface Report {
  readonly verdict: 'identical' | 'diverged'
  readonly runId: string | null
  readonly divergences: readonly Divergence[]
  readonly path: readonly {
    readonly step: string
    readonly stepId: string
    readonly match: 'same' | 'changed' | 'missing' | 'new'
  }[]
  readonly steps: number
}

interface Answer {
  readonly runs: readonly { readonly report: Report | null; readonly error: string | null }[]
}

export function ReplaySheet({ runId, chosen, onClose }: ActProps): ReactElement {
  const client = useClient()
  const [mode, setMode] = useState<Mode>('re-execute')
  const at = mode === 'what-if' && chosen ? { step: chosen.stepId } : undefined
  const replay = useMutation({
    mutationFn: () => client.post<Answer>(`${runPath(runId)}/replay`, { mode, ...(at && { at }) }),
  })
  const [done] = replay.data?.runs ?? []
  return (
    <Sheet title="Replay this run" isWide={done?.report !== null && done !== undefined} onClose={onClose}>
      <fieldset className="choices">
        <legend>How</legend>
        {(Object.keys(MODES) as Mode[]).map((each) => (
          <label key={each}>
            <input type="radio" name="mode" checked={mode === each} onChange={() => setMode(each)} />
            <span>
              <b>{each}</b> <span className="quiet">{MODES[each]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {mode === 'what-if' && (
        <p className="quiet">
          {chosen
            ? `Live from ${chosen.stepId} on.`
            : 'Select the step from which to run live; without one, it is the end of the run.'}
        </p>
      )}
      <Command
        text={`clew replay ${shellWord(runId)} --mode ${mode}${at ? ` --at ${shellWord(at.step)}` : ''}`}
      />
      {replay.error && <ErrorNote error={replay.error} />}
      {done?.error && <ErrorNote error={done.error} />}
      <div className="sheet-feet">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
        <button
          type="button"
          className="button main"
          disabled={replay.isPending}
          onClick={() => replay.mutate()}
        >
          {replay.isPending ? 'Replaying…' : 'Replay'}
        </button>
      </div>
      {done?.report && <ReportView report={done.report} />}
    </Sheet>
  )
}

/** Two columns, recorded and replayed; equal rows stand back, the first that parts is in view. */
function ReportView({ report }: { readonly report: Report }): ReactElement {
  const first = report.divergences[0]
  const parting = useRef<HTMLLIElement>(null)
  useEffect(() => {
    // Newer browsers return a promise here, which React would take for a clean-up.
    parting.current?.scrollIntoView({ block: 'nearest' })
  }, [report])
  return (
    <section className="report" aria-live="polite">
      <h3 data-verdict={report.verdict}>
        {report.verdict === 'identical'
          ? `Identical: ${plural(report.steps, 'step')} went the same way.`
          : `Diverged at ${first?.step ?? 'the run itself'} (${first?.kind ?? 'unknown'}).`}
      </h3>
      {report.runId !== null && (
        <p>
          Kept as <RunLink runId={report.runId} />
        </p>
      )}
      <ol className="report-path">
        <li className="report-head quiet">
          <span>recorded</span>
          <span>replayed</span>
        </li>
        {report.path.map((item, index) => {
          const isFirst = first !== undefined && item.stepId === first.stepId
          return (
            <li key={`${index} ${item.stepId}`} data-match={item.match} ref={isFirst ? parting : undefined}>
              <span>{item.match === 'new' ? '' : item.stepId}</span>
              <span>{item.match === 'missing' ? '' : item.stepId}</span>
              {isFirst && (
                <div className="report-parting">
                  <Side name="expected" value={first.expected} />
                  <Side name="received" value={first.received} />
                  {first.changes.length > 0 && <Changes changes={first.changes} />}
                </div>
              )}
            </li>
          )
        })}
      </ol>
      {report.divergences.slice(1).map((divergence, index) => (
        <p key={index} className="quiet">
          then {divergence.kind} at {divergence.step ?? 'the run'}
        </p>
      ))}
    </section>
  )
}

function Side({ name, value }: { readonly name: string; readonly value: unknown }): ReactElement {
  return (
    <div>
      <span className="quiet">{name}</span>{' '}
      <span className="clew-mono">{value === undefined ? 'nothing' : previewValue(value, 300)}</span>
    </div>
  )
}
