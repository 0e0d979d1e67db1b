import { formatClock } from '@clew/react'
import type { ReactElement } from 'react'
import { useLink } from './link-state.ts'

export function OfflineStrip(): ReactElement | null {
  const { state, liveAt } = useLink()
  if (state !== 'broken') return null
  return (
    <div className="strip" role="status">
      <span className="clew-pulse" aria-hidden="true" />
      Reconnecting…{liveAt !== null && ` showing the record up to ${formatClock(liveAt)}`}
    </div>
  )
}
