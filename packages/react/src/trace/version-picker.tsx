import type { SessionHead } from '@clew/trace'
import type { ReactElement } from 'react'
import { formatClock } from '../theme/format.ts'

interface VersionPickerProps {
  readonly session: SessionHead
  /** Sessions on the same message, in any order; without this one. */
  readonly related: readonly SessionHead[]
  readonly onPick: (sessionId: string) => void
}

/** The answers to one message, one of which is looked at. Nothing when there is only one. */
export function VersionPicker({ session, related, onPick }: VersionPickerProps): ReactElement | null {
  if (related.length === 0) return null
  const versions = [session, ...related].sort((a, b) => a.position - b.position)
  return (
    <label className="clew-versions">
      <span className="clew-hidden">Version</span>
      <select value={session.sessionId} onChange={(event) => onPick(event.target.value)}>
        {versions.map(({ sessionId, startedAt, status }, at) => (
          <option key={sessionId} value={sessionId}>
            version {at + 1} of {versions.length}, {formatClock(startedAt)}, {status}
          </option>
        ))}
      </select>
    </label>
  )
}
