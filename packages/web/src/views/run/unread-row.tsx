import { type StepsRow, TranscriptRow, type TranscriptRowProps } from '@clew/react'
import type { StepSkeleton } from '@clew/ledger'
import type { ReactElement } from 'react'
import { useStepEntries } from './use-step-entries.ts'

interface UnreadRowProps extends TranscriptRowProps {
  readonly runId: string
  readonly row: StepsRow
  readonly lastSeq: number
  /** True during fast scrolling: do not load the row. */
  readonly isPassing: boolean
}

/** As high as most will be: what is read later then moves little. */
export const UNREAD_HEIGHT = 52

/** A step of a very long run: what it said and gave back is read when it comes into view. */
export function UnreadRow({ runId, lastSeq, isPassing, ...props }: UnreadRowProps): ReactElement {
  const { row, text } = props
  const step = row.steps[0] as StepSkeleton
  const entries = useStepEntries(runId, step, lastSeq, !isPassing)
  if (entries === null)
    return (
      <div style={{ minHeight: UNREAD_HEIGHT }}>
        <TranscriptRow {...props} />
      </div>
    )
  if (entries.length === 0 || text !== undefined) return <TranscriptRow {...props} />
  return (
    <>
      {entries.map((entry) => (
        <TranscriptRow
          {...props}
          key={`${entry.seq} ${entry.kind}`}
          row={{ type: 'entry', key: row.key, seq: entry.seq, entry, step, isOver: step.endedSeq !== null }}
        />
      ))}
    </>
  )
}
