import type { EntryOf, StepSkeleton } from '@clew/ledger'
import { formatDuration, plural } from '@clew/react'

/** Reasons of a resume after which nobody had been at work. */
const ANSWERED: ReadonlySet<string> = new Set(['answered', 'pending'])

/** One take-over after a process died: what was kept, what was in flight, and how long nobody worked. */
export interface Recovery {
  readonly text: string
  /** Events that prove it. */
  readonly resumedSeq: number
}

/** What a resume found, from the steps around it; undefined for a resume after a pause. */
export function recoveryAt(
  { seq, at, reason }: EntryOf<'status'>,
  steps: readonly StepSkeleton[],
): Recovery | undefined {
  if (reason === null || ANSWERED.has(reason)) return undefined
  const before = steps.filter(({ startedSeq }) => startedSeq < seq)
  const kept = before.filter(
    ({ status, endedSeq }) => status === 'completed' && endedSeq !== null && endedSeq < seq,
  )
  const cut = before.filter(
    ({ status, endedSeq }) => endedSeq === null || (status === 'interrupted' && endedSeq > seq),
  )
  const again = cut.filter(({ stepId, attempt }) =>
    steps.some((each) => each.stepId === stepId && each.attempt > attempt),
  )
  const lastMs = Math.max(
    ...before.flatMap(({ createdAt, completedAt, endedSeq }) =>
      endedSeq !== null && endedSeq < seq && completedAt !== null
        ? [Date.parse(completedAt)]
        : [Date.parse(createdAt)],
    ),
  )
  const idle = Number.isFinite(lastMs)
    ? `${formatDuration(Math.max(0, Date.parse(at) - lastMs))} later`
    : 'later'
  return {
    resumedSeq: seq,
    text: `The process at work was gone; another took over ${idle}: ${plural(kept.length, 'step')} kept, ${again.length} repeated, ${cut.length - again.length} in doubt.`,
  }
}
