import type { RunSummary } from '@clew/ledger'
import { runPath, useClient } from '@clew/react'
import { useMutation } from '@tanstack/react-query'
import { Star, ThumbsDown, ThumbsUp } from 'lucide-react'
import { type FormEvent, type ReactElement, useState } from 'react'
import { ErrorNote } from '../../parts/note.tsx'

type Score = RunSummary['scores'][number]

interface ScoresProps {
  readonly runId: string
  readonly scores: readonly Score[]
  /** Score this step; without it the run. */
  readonly stepId?: string | undefined
}

interface Given {
  readonly name: string
  readonly value: number | string | boolean
  readonly why?: string | undefined
}

/** Scores with who gave them, a thumb up or down, and a form for any other score or note. */
export function Scores({ runId, scores, stepId }: ScoresProps): ReactElement {
  const client = useClient()
  const [isOpen, setOpen] = useState(false)
  const give = useMutation({
    mutationFn: (given: Given) =>
      client.post<{ readonly scores: readonly Score[] }>(`${runPath(runId)}/scores`, {
        ...given,
        by: 'page',
        ...(stepId !== undefined && { stepId }),
      }),
    onSuccess: () => setOpen(false),
  })
  const all = give.data && give.data.scores.length > scores.length ? give.data.scores : scores
  const own = all.filter((score) => score.stepId === (stepId ?? null))
  const thumb = own.findLast(({ name, by }) => name === 'good' && by === 'page')?.value
  return (
    <div className="scores">
      {own.map(({ name, value, by, why }) => (
        <span key={`${name} ${by}`} className="clew-chip" title={`by ${by}${why === null ? '' : `: ${why}`}`}>
          {name} <b className="clew-mono">{String(value)}</b>
        </span>
      ))}
      <button
        type="button"
        className="icon-button"
        aria-label="Good"
        aria-pressed={thumb === true}
        onClick={() => give.mutate({ name: 'good', value: true })}
      >
        <ThumbsUp size={14} aria-hidden="true" />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Bad"
        aria-pressed={thumb === false}
        onClick={() => give.mutate({ name: 'good', value: false })}
      >
        <ThumbsDown size={14} aria-hidden="true" />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Score or note…"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Star size={14} aria-hidden="true" />
      </button>
      {isOpen && <ScoreForm isPending={give.isPending} onGive={give.mutate} />}
      {give.error && <ErrorNote error={give.error} />}
    </div>
  )
}

interface ScoreFormProps {
  readonly isPending: boolean
  readonly onGive: (given: Given) => void
}

function ScoreForm({ isPending, onGive }: ScoreFormProps): ReactElement {
  const [name, setName] = useState('note')
  const [value, setValue] = useState('')
  const [why, setWhy] = useState('')
  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    onGive({
      name: name.trim(),
      value: readValue(value.trim()),
      ...(why.trim() !== '' && { why: why.trim() }),
    })
  }
  return (
    <form className="score-form" onSubmit={onSubmit}>
      <label className="field">
        <span>Name</span>
        <input value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <label className="field">
        <span>Number, label or note</span>
        <input value={value} onChange={(event) => setValue(event.target.value)} />
      </label>
      <label className="field">
        <span>Why</span>
        <input value={why} onChange={(event) => setWhy(event.target.value)} />
      </label>
      <button
        type="submit"
        className="button main"
        disabled={isPending || name.trim() === '' || value.trim() === ''}
      >
        Keep
      </button>
    </form>
  )
}

const readValue = (text: string): number | string | boolean =>
  /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text === 'true' ? true : text === 'false' ? false : text
