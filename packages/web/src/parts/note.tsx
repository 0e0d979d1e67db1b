import { isRequestError } from '@clew/react'
import { TriangleAlert } from 'lucide-react'
import type { ReactElement } from 'react'

/** `fetch` throws a TypeError when no answer came; other errors say nothing about the server. */
function adviceFor(error: unknown): string | null {
  if (isRequestError(error)) return error.hint
  return error instanceof TypeError && /fetch|network|load failed/i.test(error.message)
    ? 'Is the server running? The page tries again when it answers.'
    : null
}

/** An error where it happened: what, and what to do now. */
export function ErrorNote({
  error,
  hint = adviceFor(error),
  onRetry,
}: {
  readonly error: unknown
  /** Default: what the server advises. */
  readonly hint?: string | null | undefined
  readonly onRetry?: (() => void) | undefined
}): ReactElement {
  const message = error instanceof Error ? error.message : String(error)
  return (
    <div className="note" role="alert">
      <TriangleAlert size={14} aria-hidden="true" />
      <div>
        <p>{message}</p>
        {hint !== null && !message.includes(hint) && <p className="quiet">{hint}</p>}
      </div>
      {onRetry && (
        <button type="button" className="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}
