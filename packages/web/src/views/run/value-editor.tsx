import { runPath, useClient } from '@clew/react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactElement, useState } from 'react'
import { ErrorNote } from '../../parts/note.tsx'
import { BranchTerms, type Effects, type ReplacedValue, usePreview } from './branch-terms.tsx'

interface ValueEditorProps {
  readonly runId: string
  readonly label: string
  /** As it was recorded: text, or JSON as text. */
  readonly recorded: string
  readonly isText: boolean
  readonly toReplaced: (value: unknown) => ReplacedValue
  readonly onClose: () => void
}

/** A recorded value to type over: it opens a branch beside the recorded run, and shows both. */
export function ValueEditor({
  runId,
  label,
  recorded,
  isText,
  toReplaced,
  onClose,
}: ValueEditorProps): ReactElement {
  const client = useClient()
  const navigate = useNavigate()
  const [text, setText] = useState(recorded)
  const [effects, setEffects] = useState<Effects>('ask')
  const parsed = isText ? { value: text } : parseJson(text)
  // Where the branch parts does not depend on what is typed.
  const preview = usePreview(runId, { replace: toReplaced(isText ? '' : null) })
  const branch = useMutation({
    mutationFn: (value: unknown) =>
      client.post<{ readonly run: { readonly runId: string } }>(`${runPath(runId)}/fork`, {
        replace: toReplaced(value),
        effects,
        wait: false,
      }),
    onSuccess: ({ run }) => void navigate({ to: '/compare', search: { a: runId, b: run.runId } }),
  })
  const isReady = 'value' in parsed && text !== recorded && preview.data?.canRun === true && !branch.isPending
  const submit = (): void => {
    if (isReady && 'value' in parsed) branch.mutate(parsed.value)
  }
  function onKeyDown(event: KeyboardEvent): void {
    event.stopPropagation()
    if (event.key === 'Escape') {
      event.preventDefault()
      onClose()
    }
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      submit()
    }
  }
  return (
    <div className="editor">
      <textarea
        aria-label={label}
        value={text}
        spellCheck={false}
        rows={Math.min(16, Math.max(3, text.split('\n').length + 1))}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {'problem' in parsed && <p className="bad">{parsed.problem}</p>}
      <BranchTerms preview={preview} effects={effects} onEffects={setEffects} />
      {branch.error && <ErrorNote error={branch.error} />}
      <div className="pause-options">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="button main" disabled={!isReady} onClick={submit}>
          {branch.isPending ? 'Branching…' : 'Run the branch'}
          <kbd>Ctrl ⏎</kbd>
        </button>
      </div>
    </div>
  )
}

function parseJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not JSON.' }
  }
}
