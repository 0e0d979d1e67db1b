import { type ClewEvent, isOpenStep, type ProgressNote, type StepSkeleton } from '@clew/ledger'

/** The text so far of steps at work, by attempt and step id (`1 think@s2`); never stored (T4). */
export type StepTexts = ReadonlyMap<string, string>

export const NO_TEXTS: StepTexts = new Map()

type StepNote = Pick<ProgressNote, 'stepId' | 'attempt' | 'content'>

/** A note carries all of its text, so the newest one is enough; one that comes after the end of its step is late. */
export function withNotes(
  texts: StepTexts,
  notes: readonly StepNote[],
  find: (attempt: number, stepId: string) => StepSkeleton | undefined,
): StepTexts {
  const next = new Map(texts)
  for (const { attempt, stepId, content } of notes) {
    const step = find(attempt, stepId)
    if (typeof content === 'string' && (!step || isOpenStep(step))) next.set(`${attempt} ${stepId}`, content)
  }
  return next
}

export function withoutEnded(texts: StepTexts, events: readonly ClewEvent[]): StepTexts {
  if (texts.size === 0) return texts
  const next = new Map(texts)
  for (const { eventType, payload } of events) {
    const { stepId, attempt = 1 } = payload
    if (/^execution\.step_(?!started)/.test(eventType)) next.delete(`${String(attempt)} ${String(stepId)}`)
  }
  return next.size === texts.size ? texts : next
}
