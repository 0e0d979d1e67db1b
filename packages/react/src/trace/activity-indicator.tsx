import type { Persona } from '@clew/ledger'
import type { ReactElement } from 'react'
import { stepKindOf } from '../theme/step-kinds.tsx'

export interface ActivityIndicatorProps {
  readonly persona: Persona | null
  readonly stepType: string | null
}

/** "Ariadne is thinking…": cut where there is no room, whole in the tooltip. */
export function ActivityIndicator({ persona, stepType }: ActivityIndicatorProps): ReactElement {
  const text = `${persona?.name ?? 'An agent'} is ${doing(stepType)}…`
  return (
    <span className="clew-activity" role="status" title={text}>
      <span className="clew-pulse" aria-hidden="true" />
      <span className="clew-activity-text">{text}</span>
    </span>
  )
}

function doing(stepType: string | null): string {
  if (stepType === null) return 'at work'
  return stepType === 'thinking' ? 'thinking' : `thinking (${stepKindOf(stepType).label.toLowerCase()})`
}
