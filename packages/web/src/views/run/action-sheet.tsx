import type { RunSummary } from '@clew/ledger'
import { type ReactElement, useState } from 'react'
import { plural, runPath, useClient } from '@clew/react'
import { useMutation } from '@tanstack/react-query'
import { Command, shellWord } from '../../parts/command.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import type { RunSearch } from '../../url.ts'
import { ForkSheet } from './fork-sheet.tsx'
import { ReplaySheet } from './replay-sheet.tsx'
import type { TabProps } from './run-page.tsx'

export interface ActProps extends TabProps {
  readonly run: RunSummary
  readonly onClose: () => void
}

/** Whatever changes something asks first, and shows the command that does the same. */
export function ActionSheet(
  props: TabProps & { readonly run: RunSummary; readonly act: NonNullable<RunSearch['act']> },
): ReactElement {
  const act = { ...props, onClose: () => props.choose({ act: undefined }) }
  switch (props.act) {
    case 'fork':
      return <ForkSheet {...act} />
    case 'replay':
      return <ReplaySheet {...act} />
    case 'stop':
      return <StopSheet {...act} />
    case 'resume':
      return <ResumeSheet {...act} />
  }
}

function StopSheet({ runId, run, onClose }: ActProps): ReactElement {
  const client = useClient()
  const [reason, setReason] = useState('')
  const stop = useMutation({
    mutationFn: () =>
      client.post(`${runPath(runId)}/stop`, {
        by: 'page',
        ...(reason.trim() !== '' && { reason: reason.trim() }),
      }),
    onSuccess: onClose,
  })
  const why = reason.trim() === '' ? '' : ` --reason ${shellWord(reason.trim())}`
  return (
    <Sheet title={`Stop ${run.agent ?? 'this run'}?`} place="middle" onClose={onClose}>
      <p>
        The process that runs it ends it at its next step. What it has recorded stays; it cannot be resumed
        afterwards, but forked.
      </p>
      <label className="field">
        <span>Why, for the record</span>
        <input value={reason} onChange={(event) => setReason(event.target.value)} />
      </label>
      <Command text={`clew stop ${shellWord(runId)}${why}`} />
      {stop.error && <ErrorNote error={stop.error} />}
      <div className="sheet-feet">
        <button type="button" className="button" onClick={onClose}>
          Let it run
        </button>
        <button type="button" className="button bad" disabled={stop.isPending} onClick={() => stop.mutate()}>
          {stop.isPending ? 'Stopping…' : 'Stop the run'}
        </button>
      </div>
    </Sheet>
  )
}

function ResumeSheet({ runId, run, view, onClose }: ActProps): ReactElement {
  const client = useClient()
  const resume = useMutation({
    mutationFn: () => client.post(`${runPath(runId)}/resume`, { wait: false }),
    onSuccess: onClose,
  })
  const done = view.steps.filter(({ status }) => status === 'completed').length
  return (
    <Sheet title={`Resume ${run.agent ?? 'this run'}?`} place="middle" onClose={onClose}>
      <p>
        It continues after its last recorded step.{' '}
        {done === 0
          ? 'No step was completed yet.'
          : `${plural(done, 'completed step')} ${done === 1 ? 'is' : 'are'} restored from the record; none runs again.`}
      </p>
      <Command text={`clew resume ${shellWord(runId)}`} />
      {resume.error && <ErrorNote error={resume.error} />}
      <div className="sheet-feet">
        <button type="button" className="button" onClick={onClose}>
          Not now
        </button>
        <button
          type="button"
          className="button main"
          disabled={resume.isPending}
          onClick={() => resume.mutate()}
        >
          {resume.isPending ? 'Resuming…' : 'Resume the run'}
        </button>
      </div>
    </Sheet>
  )
}
