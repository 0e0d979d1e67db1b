import { useClient } from '@clew/react'
import { useMutation } from '@tanstack/react-query'
import { SendHorizontal } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, type ReactElement, useEffect, useRef, useState } from 'react'
import { ErrorNote } from '../../parts/note.tsx'
import { messagesPath } from './paths.ts'

const YOU = { type: 'user', id: 'you', name: 'You' } as const

interface ComposerText {
  readonly text: string
  /** Made with the draft: sent twice, it is one message. */
  readonly messageId: string
}
const newDraft = (text = ''): ComposerText => ({ text, messageId: crypto.randomUUID() })

/** Enter sends, with ⇧ it begins a line. What could not be sent stays. */
export function Composer({
  streamId,
  isThread,
  examples,
}: {
  readonly streamId: string
  readonly isThread: boolean
  readonly examples?: readonly string[] | undefined
}): ReactElement {
  const client = useClient()
  const field = useRef<HTMLTextAreaElement>(null)
  // Whoever opens a thread wants to write; on a phone the keyboard would hide what they want to read first.
  useEffect(() => {
    if (isThread && matchMedia('(hover: hover)').matches) field.current?.focus()
  }, [isThread])
  const [draft, setDraft] = useState(newDraft)
  const send = useMutation({
    mutationFn: ({ text, messageId }: ComposerText) =>
      client.post(messagesPath(streamId), { content: text.trim(), messageId, author: YOU }),
    onSuccess: () => setDraft(newDraft()),
  })
  function submit(event: FormEvent | KeyboardEvent): void {
    event.preventDefault()
    if (draft.text.trim() !== '' && !send.isPending) send.mutate(draft)
  }
  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>): void {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter' && !event.shiftKey) submit(event)
    // To the messages: keys are commands again there.
    if (event.key === 'Escape')
      field.current?.closest('section')?.querySelector<HTMLElement>('[role="log"]')?.focus()
  }
  return (
    <form className="composer" onSubmit={submit}>
      {send.error && <ErrorNote error={send.error} onRetry={() => send.mutate(draft)} />}
      {examples && (
        <div className="composer-examples" role="group" aria-label="Examples">
          {examples.length > 0 && <span className="quiet">Try</span>}
          {examples.map((text) => (
            <button
              key={text}
              type="button"
              className="chip-button"
              onClick={() => {
                setDraft(newDraft(text))
                field.current?.focus()
              }}
            >
              {text}
            </button>
          ))}
        </div>
      )}
      <div className="composer-line">
        <textarea
          ref={field}
          className="input"
          rows={1}
          value={draft.text}
          placeholder={isThread ? 'Reply…' : 'Write a message…'}
          aria-label="Write a message"
          onChange={(event) => setDraft({ ...draft, text: event.target.value })}
          onKeyDown={onKeyDown}
        />
        <button
          type="submit"
          className="button main"
          disabled={draft.text.trim() === '' || send.isPending}
          aria-label="Send"
        >
          <SendHorizontal size={15} aria-hidden="true" />
        </button>
      </div>
    </form>
  )
}
