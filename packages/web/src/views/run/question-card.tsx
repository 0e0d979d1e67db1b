import type { EntryOf } from '@clew/ledger'
import { formatDuration, formatExact, JsonTree, LongText, runPath, useClient } from '@clew/react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactElement, useEffect, useState } from 'react'
import { ErrorNote } from '../../parts/note.tsx'
import { AnswerFields } from './answer-fields.tsx'
import { answerForm, labelOf, parseAnswer } from './answer-form.ts'
import { useEvent } from './use-event.ts'

interface QuestionCardProps {
  readonly runId: string
  readonly entry: EntryOf<'question'>
  readonly isWaiting: boolean
}

/** What is asked, in full, with buttons that answer at once. */
export function QuestionCard({ runId, entry, isWaiting }: QuestionCardProps): ReactElement | null {
  const client = useClient()
  const asked = useEvent(runId, isWaiting ? entry.seq : null)
  const payload = asked.data?.payload
  const dueAt = typeof payload?.dueAt === 'string' ? payload.dueAt : undefined
  const form = answerForm({ ...entry, schema: payload?.schema })
  const [draft, setDraft] = useState<string>()
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
    return (
      <p className="quiet" role="status">
        Answered: {labelOf(send.variables)}. The run continues as soon as its agent resumes it.
      </p>
    )
  const parsed = draft === undefined ? undefined : parseAnswer(form, draft)
  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    if (parsed && 'value' in parsed) send.mutate(parsed.value)
  }
  return (
    <form className="pause" onSubmit={onSubmit}>
      <Content question={entry.question} />
      {form.kind === 'options' ? (
        <div className="pause-options" role="group" aria-label="Answer">
          {form.options.map((option, at) => (
            <button
              key={option.text}
              type="button"
              className={at === 0 ? 'button main' : 'button'}
              disabled={send.isPending}
              onClick={() => send.mutate(option.value)}
            >
              {option.label}
            </button>
          ))}
        </div>
      ) : (
        <>
          <AnswerFields form={form} draft={draft} onDraft={setDraft} />
          {parsed && 'problem' in parsed && draft !== '' && <p className="bad">{parsed.problem}</p>}
          <div className="pause-options">
            <button
              type="submit"
              className="button main"
              disabled={!parsed || 'problem' in parsed || send.isPending}
            >
              {send.isPending ? 'Sending…' : 'Answer'}
            </button>
          </div>
        </>
      )}
      {payload && (dueAt !== undefined || payload.default !== undefined) && (
        <Deadline dueAt={dueAt} askedAt={asked.data?.timestamp} otherwise={payload.default} />
      )}
      {send.error && <ErrorNote error={send.error} />}
    </form>
  )
}

/** Fields that the card shows elsewhere: as its words, its buttons or its deadline. */
const SHOWN = new Set([
  'question',
  'options',
  'choices',
  'schema',
  'default',
  'timeoutMs',
  'safety',
  'effect',
  'stepId',
  'attempt',
])

/** All else that came with the question: the arguments of what is to be approved first of all. */
function Content({ question }: { readonly question: unknown }): ReactElement | null {
  if (typeof question !== 'object' || question === null || Array.isArray(question)) return null
  const { effect, safety } = question as Readonly<Record<string, unknown>>
  const fields = Object.entries(question).filter(
    ([key, value]) => !SHOWN.has(key) && value !== null && value !== undefined,
  )
  if (fields.length === 0 && effect === undefined) return null
  return (
    <dl className="pause-content">
      {typeof effect === 'string' && (
        <div>
          <dt>what will be done</dt>
          <dd>
            <b className="clew-mono">{effect}</b>
            {typeof safety === 'string' && <span className="clew-chip">{safety}</span>}
          </dd>
        </div>
      )}
      {fields.map(([key, value]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>
            {typeof value === 'string' ? (
              <LongText text={value} />
            ) : typeof value === 'object' ? (
              <JsonTree value={value} label={key} open />
            ) : (
              <span className="clew-mono">{String(value)}</span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

interface DeadlineProps {
  readonly dueAt: string | undefined
  readonly askedAt: string | undefined
  readonly otherwise: unknown
}

const TICK_MS = 1000

/** What counts without an answer, and how long until then. */
function Deadline({ dueAt, askedAt, otherwise }: DeadlineProps): ReactElement {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (dueAt === undefined) return undefined
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [dueAt])
  const counts = otherwise === undefined ? 'it is denied' : `${labelOf(otherwise)} counts`
  if (dueAt === undefined) return <p className="quiet">Without an answer {counts}.</p>
  const leftMs = Date.parse(dueAt) - now
  const wholeMs = askedAt === undefined ? leftMs : Date.parse(dueAt) - Date.parse(askedAt)
  return (
    <div className="pause-deadline" title={formatExact(dueAt)}>
      {leftMs > 0 && <progress value={leftMs} max={Math.max(wholeMs, 1)} aria-label="Time left" />}
      <span className="quiet">
        {leftMs > 0
          ? `Without an answer ${counts} in ${formatDuration(Math.ceil(leftMs / 1000) * 1000)}.`
          : `The time for an answer is over: ${counts}.`}
      </span>
    </div>
  )
}
