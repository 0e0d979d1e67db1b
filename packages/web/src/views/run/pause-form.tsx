import type { EntryOf } from '@clew/ledger'
import { runPath, useClient } from '@clew/react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactElement, useState } from 'react'
import { Command, shellWord } from '../../parts/command.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { type AnswerForm, answerForm, parseAnswer } from './answer-form.ts'
import { useEvent } from './use-event.ts'

interface PauseFormProps {
  readonly runId: string
  readonly entry: EntryOf<'question'>
  readonly isWaiting: boolean
}

/** Answers a question where it was asked. What is picked is shown as the command it stands for, then sent. */
export function PauseForm({ runId, entry, isWaiting }: PauseFormProps): ReactElement | null {
  const client = useClient()
  const asked = useEvent(runId, isWaiting ? entry.seq : null)
  const form = answerForm({ ...entry, schema: asked.data?.payload.schema })
  const [draft, setDraft] = useState<string | null>(null)
  const parsed = draft === null ? undefined : parseAnswer(form, draft)
  const send = useMutation({
    mutationFn: (answer: unknown) =>
      client.post(`${runPath(runId)}/resume`, {
        answer,
        pauseId: entry.pauseId ?? undefined,
        by: 'page',
        wait: false,
      }),
  })
  if (!isWaiting) return null
  if (send.isSuccess)
    return <p className="quiet">Answered. The run continues as soon as its agent resumes it.</p>

  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    if (parsed && 'value' in parsed) send.mutate(parsed.value)
  }
  const answerText = draft === null || draft === '' ? '…' : shellWord(draft)
  return (
    <form className="pause" onSubmit={onSubmit}>
      <Choices form={form} draft={draft} onDraft={setDraft} />
      {parsed && 'problem' in parsed && draft !== '' && <p className="bad">{parsed.problem}</p>}
      {send.error && <ErrorNote error={send.error} />}
      <div className="pause-feet">
        <Command text={`clew resume ${shellWord(runId)} --answer ${answerText}`} />
        <button
          type="submit"
          className="button main"
          disabled={!parsed || 'problem' in parsed || send.isPending}
        >
          {send.isPending ? 'Sending…' : 'Answer'}
        </button>
      </div>
    </form>
  )
}

interface ChoicesProps {
  readonly form: AnswerForm
  readonly draft: string | null
  readonly onDraft: (draft: string) => void
}

function Choices({ form, draft, onDraft }: ChoicesProps): ReactElement {
  if (form.kind === 'options')
    return (
      <div className="pause-options" role="radiogroup" aria-label="Answer">
        {form.options.map((option) => (
          <button
            key={option.text}
            type="button"
            role="radio"
            className="button"
            aria-checked={draft === option.text}
            onClick={() => onDraft(option.text)}
          >
            {option.label}
          </button>
        ))}
      </div>
    )
  return (
    <label className="field">
      <span>
        {form.kind === 'json' ? `Answer as JSON${form.about === '' ? '' : `: ${form.about}`}` : 'Answer'}
      </span>
      {form.kind === 'json' ? (
        <textarea value={draft ?? ''} spellCheck={false} onChange={(event) => onDraft(event.target.value)} />
      ) : (
        <input value={draft ?? ''} onChange={(event) => onDraft(event.target.value)} />
      )}
    </label>
  )
}
