import { isRequestError } from '@clew/react'
import { TriangleAlert } from 'lucide-react'
import type { ReactElement } from 'react'

/** An error where it happened: what, and what to do now. */
export function ErrorNote({
  error,
  hint = isRequestError(error) ? error.hint : 'Is the server running? The page tries again when it answers.',
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
