import { type RunSummary, stepLabel } from '@clew/ledger'
import { runPath, useClient } from '@clew/react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Command, shellWord } from '../../parts/command.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import type { ActProps } from './action-sheet.tsx'
import { BranchTerms, type Effects, usePreview } from './branch-terms.tsx'
import { readState } from './read-state.ts'
import { useEvent } from './use-event.ts'

interface Outcome {
  readonly run: RunSummary
  readonly warnings: readonly string[]
}

const CHANGES = ['nothing', 'input', 'state'] as const
type What = (typeof CHANGES)[number]

/** From which step, what changes, what is kept and what runs again; then it is done. */
export function ForkSheet({ runId, run, view, chosen, search, onClose }: ActProps): ReactElement {
  const client = useClient()
  const navigate = useNavigate()
  const { steps } = view
  const [picked, setStepId] = useState<string>()
  // Where one is: at the chosen step, or behind the superstep under the scrubber; else where the run failed.
  const here =
    search.at === undefined
      ? steps.find(({ status }) => status === 'failed')
      : steps.find(({ superstep }) => superstep > (search.at ?? 0))
  const stepId = picked ?? chosen?.stepId ?? here?.stepId ?? ''
  const [effects, setEffects] = useState<Effects>('ask')
  const preview = usePreview(runId, { at: stepId === '' ? undefined : { step: stepId } })
  const [what, setWhat] = useState<What>('nothing')
  /** Text that the user typed; undefined while the recorded value is shown. */
  const [typed, setTyped] = useState<string>()
  const at = steps.find((step) => step.stepId === stepId)
  const started = useEvent(runId, what === 'input' ? 1 : null)
  const before = useQuery({
    queryKey: ['state', runId, at ? at.superstep - 1 : 'end'],
    queryFn: ({ signal }) =>
      readState(client, runId, at === undefined ? undefined : at.superstep - 1, signal),
    enabled: what === 'state',
    staleTime: 60_000,
  })
  const given = what === 'input' ? started.data?.payload.input : before.data?.state
  const text = typed ?? (given === undefined ? '' : JSON.stringify(given, null, 2))
  function pickStep(next: string): void {
    setStepId(next)
    // The input belongs to the run, the state to the step.
    if (what === 'state') setTyped(undefined)
  }
  function pickChange(next: What): void {
    setWhat(next)
    setTyped(undefined)
  }

  const value = what === 'nothing' ? undefined : parseEdit(text, what, given)
  const body = {
    wait: false,
    effects,
    ...(stepId !== '' && { at: { step: stepId } }),
    ...(what === 'input' && value?.ok && { input: value.value }),
    ...(what === 'state' && value?.ok && { state: value.value }),
  }
  const fork = useMutation({
    mutationFn: () => client.post<Outcome>(`${runPath(runId)}/fork`, body),
    onSuccess: ({ run }) => void navigate({ to: '/runs/$runId', params: { runId: run.runId }, search: {} }),
  })
  const edited = what === 'state' && value?.ok ? Object.keys(value.value as object) : []
  const flags = [
    stepId === '' ? '' : ` --at ${shellWord(stepId)}`,
    effects === 'live' ? ' --effects live' : '',
    what !== 'nothing' && value?.ok ? ` --${what} ${shellWord(JSON.stringify(value.value))}` : '',
  ].join('')
  return (
    <Sheet title="Fork this run" onClose={onClose}>
      <p className="quiet">A new run that shares the record up to a step. This run stays unchanged.</p>
      <label className="field">
        <span>Start before</span>
        <select value={stepId} onChange={(event) => pickStep(event.target.value)}>
          <option value="">its end: continue with all of it</option>
          {steps.slice(0, MAX_LISTED).map((step) => (
            <option key={`${step.attempt} ${step.stepId}`} value={step.stepId}>
              {step.superstep}. {stepLabel(step.stepId, step.nodeName)}
              {step.status === 'completed' ? '' : ` (${step.status})`}
            </option>
          ))}
        </select>
      </label>
      <fieldset className="choices">
        <legend>What changes</legend>
        {CHANGES.filter((each) => each !== 'state' || run.checkpoint !== null).map((each) => (
          <label key={each}>
            <input type="radio" name="what" checked={what === each} onChange={() => pickChange(each)} />
            {each === 'nothing'
              ? 'Nothing: check whether the result is the same'
              : each === 'input'
                ? 'The input of the run'
                : 'The state of the graph at that step'}
          </label>
        ))}
      </fieldset>
      {before.error && <ErrorNote error={before.error} />}
      {what !== 'nothing' && (
        <label className="field">
          <span>{what === 'input' ? 'Input, as JSON' : 'The state at that step, to edit'}</span>
          <textarea
            value={text}
            spellCheck={false}
            rows={10}
            onChange={(event) => setTyped(event.target.value)}
          />
          {value && !value.ok && <span className="bad">{value.problem}</span>}
        </label>
      )}
      <dl className="sums">
        {what === 'state' && (
          <div>
            <dt>replaced</dt>
            <dd className="clew-mono">{edited.length === 0 ? 'nothing yet' : edited.join(', ')}</dd>
          </div>
        )}
      </dl>
      <BranchTerms preview={preview} effects={effects} onEffects={setEffects} />
      <Command text={`clew fork ${shellWord(runId)}${flags}`} />
      {fork.error && <ErrorNote error={fork.error} />}
      <div className="sheet-feet">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="button main"
          disabled={
            fork.isPending || (value !== undefined && !value.ok) || (what === 'state' && edited.length === 0)
          }
          onClick={() => fork.mutate()}
        >
          {fork.isPending ? 'Forking…' : 'Fork'}
        </button>
      </div>
    </Sheet>
  )
}

/** Limit of the menu: with more steps, the user chooses one in the timeline. */
const MAX_LISTED = 500

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string }

/** Parses an edit. An edited state has only the changed channels; the others keep their values. */
function parseEdit(text: string, what: What, given: unknown): Parsed {
  const parsed = parseJson(text)
  if (!parsed.ok || what !== 'state') return parsed
  const { value } = parsed
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { ok: false, problem: 'A state is an object: channels by name.' }
  const before = (given ?? {}) as Readonly<Record<string, unknown>>
  const changed = Object.entries(value).filter(
    ([channel, now]) => JSON.stringify(now) !== JSON.stringify(before[channel]),
  )
  return { ok: true, value: Object.fromEntries(changed) }
}

function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as unknown }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : 'This is not JSON.' }
  }
}
