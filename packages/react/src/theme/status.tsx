import type { RunStatus, StepStatus } from '@clew/ledger'
import {
  Ban,
  Check,
  CircleDashed,
  CirclePause,
  CircleStop,
  CircleX,
  Clock,
  GitFork,
  type LucideIcon,
  OctagonPause,
  PieChart,
  Trash2,
} from 'lucide-react'
import type { ReactElement } from 'react'

type Status = RunStatus | StepStatus

/** Running has no glyph of its own: it is the live end of the thread, drawn as a dot that pulses. */
const GLYPHS: Readonly<Record<Exclude<Status, 'running'>, LucideIcon>> = {
  pending: Clock,
  paused: CirclePause,
  blocked: OctagonPause,
  completed: Check,
  failed: CircleX,
  stopped: CircleStop,
  partial: PieChart,
  interrupted: CircleDashed,
  superseded: GitFork,
  deleted: Trash2,
}

/** Never colour alone: a glyph and the word; `compact` leaves the word to the reader of the screen. */
export function StatusMark({
  status,
  compact = false,
}: {
  readonly status: Status
  readonly compact?: boolean
}): ReactElement {
  const Glyph = status === 'running' ? undefined : (GLYPHS[status] ?? Ban)
  return (
    <span className="clew-status" data-status={status} title={compact ? status : undefined}>
      {Glyph ? (
        <Glyph size={14} strokeWidth={2} aria-hidden="true" />
      ) : (
        <span className="clew-pulse" aria-hidden="true" />
      )}
      <span className={compact ? 'clew-hidden' : undefined}>{status}</span>
    </span>
  )
}
