import type { RunSummary } from '@clew/ledger'
import { plural, runPath, useClient } from '@clew/react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useEffect, useState } from 'react'
import { Command, shellWord } from '../../parts/command.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import type { ActProps } from './act-sheet.tsx'
import { useEvent } from './use-event.ts'

interface Outcome {
  readonly run: RunSummary
  readonly warnings: readonly string[]
}

type What = 'nothing' | 'input' | 'state'

/** From which step, what changes, what is kept and what runs again; then it is done. */
export function ForkSheet({ runId, view, chosen, onClose }: ActProps): ReactElement {
  const client = useClient()
  const navigate = useNavigate()
  const { steps } = view
  const [picked, setStepId] = useState<string>()
  const stepId = picked ?? chosen?.stepId ?? steps.find(({ status }) => status === 'failed')?.stepId ?? ''
  const [what, setWhat] = useState<What>('nothing')
  const [text, setText] = useState('')
  const started = useEvent(runId, what === 'input' ? 1 : null)
  useEffect(() => {
    if (what === 'input' && started.data)
      setText(JSON.stringify(started.data.payload['input'] ?? null, null, 2))
    if (what === 'state') setText('{\n  \n}')
  }, [what, started.data])

  const value = what === 'nothing' ? undefined : parseJson(text)
  const at = steps.find((step) => step.stepId === stepId)
  const kept = at
    ? steps.filter(({ endedSeq }) => endedSeq !== null && endedSeq < at.startedSeq).length
    : steps.length
  const body = {
    ...(stepId !== '' && { at: { step: stepId } }),
    ...(what === 'input' && value?.ok && { input: value.value }),
    ...(what === 'state' && value?.ok && { state: value.value }),
  }
  const fork = useMutation({
    mutationFn: () => client.post<Outcome>(`${runPath(runId)}/fork`, body),
    onSuccess: ({ run }) => void navigate({ to: '/runs/$runId', params: { runId: run.runId }, search: {} }),
  })
  const flags = [
    stepId === '' ? '' : ` --at ${shellWord(stepId)}`,
    what !== 'nothing' && value?.ok ? ` --${what} ${shellWord(JSON.stringify(value.value))}` : '',
  ].join('')
  return (
    <Sheet title="Fork this run" onClose={onClose}>
      <p className="quiet">A new run that shares the record up to a step. This one stays as it is.</p>
      <label className="field">
        <span>Begin before</span>
        <select value={stepId} onChange={(event) => setStepId(event.target.value)}>
          <option value="">its end: go on with all of it</option>
          {steps.slice(0, MOST_LISTED).map((step) => (
            <option key={`${step.attempt} ${step.stepId}`} value={step.stepId}>
              {step.superstep}. {step.stepId}
              {step.status === 'completed' ? '' : ` (${step.status})`}
            </option>
          ))}
        </select>
      </label>
      <fieldset className="choices">
        <legend>What changes</legend>
        {(['nothing', 'input', 'state'] as const).map((each) => (
          <label key={each}>
            <input type="radio" name="what" checked={what === each} onChange={() => setWhat(each)} />
            {each === 'nothing'
              ? 'Nothing: see whether it goes the same way'
              : each === 'input'
                ? 'The input of the run'
                : 'The state of the graph at that step'}
          </label>
        ))}
      </fieldset>
      {what !== 'nothing' && (
        <label className="field">
          <span>{what === 'input' ? 'Input, as JSON' : 'What to write, as a JSON object by channel'}</span>
          <textarea
            value={text}
            spellCheck={false}
            rows={10}
            onChange={(event) => setText(event.target.value)}
          />
          {value && !value.ok && <span className="bad">{value.problem}</span>}
        </label>
      )}
      <dl className="sums">
        <div>
          <dt>kept from the record</dt>
          <dd>{plural(kept, 'step')}</dd>
        </div>
        <div>
          <dt>to run again, live</dt>
          <dd>
            {at ? `${plural(steps.length - kept, 'step')}, as far as it goes the same way` : 'what follows'}
          </dd>
        </div>
      </dl>
      <Command text={`clew fork ${shellWord(runId)}${flags}`} />
      {fork.error && <ErrorNote error={fork.error} />}
      <div className="sheet-feet">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="button main"
          disabled={fork.isPending || (value !== undefined && !value.ok)}
          onClick={() => fork.mutate()}
        >
          {fork.isPending ? 'Forking…' : 'Fork'}
        </button>
      </div>
    </Sheet>
  )
}

/** A menu longer than this helps nobody: choose the step in the timeline instead. */
const MOST_LISTED = 500

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string }

function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as unknown }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : 'This is not JSON.' }
  }
}
