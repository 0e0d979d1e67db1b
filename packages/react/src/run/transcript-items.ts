import { type StepSkeleton, showsInputOutput, type TranscriptEntry } from '@clew/ledger'

/** Steps of one name that follow each other without a word between them. */
export interface StepsRow {
  readonly type: 'steps'
  readonly key: string
  readonly seq: number
  readonly name: string
  readonly kind: string
  readonly depth: number
  readonly steps: readonly StepSkeleton[]
  /** The step's input and output are not among the entries: they are read when the row is visible. */
  readonly isUnread: boolean
}

export interface EntryRow {
  readonly type: 'entry'
  readonly key: string
  readonly seq: number
  readonly entry: TranscriptEntry
  /** The attempt that it belongs to, or stands for: of a call of a model the one that performed it, if that is known. */
  readonly step: StepSkeleton | null
  /** True if a call without an outcome can no longer get one. */
  readonly isOver: boolean
}

/** Transcript of a run: messages, and between them the steps. */
export type TranscriptItem = EntryRow | StepsRow

/** Entries stand for their step; entries of these kinds show all of it. */
const TELLS_STEP: ReadonlySet<TranscriptEntry['kind']> = new Set(['tool_call', 'question', 'child_run'])
/** Kinds of entries that are made at the end of a model step and then stand for the step. */
const TELLS_END: ReadonlySet<TranscriptEntry['kind']> = new Set(['reasoning', 'message'])

/** `isBrief`: the entries lack those made of a step's input and output (`RunView.isBrief`). */
export function transcriptItems(
  entries: readonly TranscriptEntry[],
  steps: readonly StepSkeleton[],
  isBrief = false,
): TranscriptItem[] {
  const slices = transcriptItemsInSlices(entries, steps, isBrief)
  for (;;) {
    const { done, value } = slices.next()
    if (done === true) return value
  }
}

/** Entries and steps between two pauses: about a millisecond of work. */
const SLICE = 1000

/** The same in slices, with pauses for more urgent work. */
export function* transcriptItemsInSlices(
  entries: readonly TranscriptEntry[],
  steps: readonly StepSkeleton[],
  isBrief = false,
): Generator<undefined, TranscriptItem[], undefined> {
  let work = 0
  const known = new Map<string, StepSkeleton>()
  for (const step of steps) {
    known.set(step.stepId, step)
    if (++work % SLICE === 0) yield
  }
  const told = new Set<string>()
  for (const entry of entries) {
    const { kind, stepId, seq } = entry
    if (++work % SLICE === 0) yield
    if (stepId === null) continue
    if ((isBrief && isLeftOpen(entry, known)) || isSilent(entry)) continue
    const isSpoken = kind === 'message' && known.get(stepId)?.kind === 'model'
    if (isSpoken || TELLS_STEP.has(kind) || (TELLS_END.has(kind) && known.get(stepId)?.endedSeq === seq))
      told.add(stepId)
    const performedBy = performerOf(entry)
    if (performedBy !== null) told.add(performedBy)
  }
  const depths = new Map<string, number>()
  /** The newest attempt so far. */
  const begun = new Map<string, StepSkeleton>()
  const isOver = entries.at(-1)?.kind === 'end'
  const rows: TranscriptItem[] = []
  let next = 0
  for (const entry of entries) {
    if (++work % SLICE === 0) yield
    // Reasoning stands above what it led to, so entries are not in the order of their seq all the time.
    for (; next < steps.length && (steps[next]?.startedSeq ?? 0) < entry.seq; next++) {
      const step = steps[next] as StepSkeleton
      begun.set(step.stepId, step)
      addStep(rows, step, told, depths, isBrief)
      if (++work % SLICE === 0) yield
    }
    if ((isBrief && isLeftOpen(entry, known)) || isSilent(entry)) continue
    const { seq, stepId, kind } = entry
    const beginning = steps[next]
    const performedBy = performerOf(entry)
    const step =
      performedBy !== null
        ? (known.get(performedBy) ?? null)
        : stepId === null
          ? null
          : ((beginning?.startedSeq === seq ? beginning : begun.get(stepId)) ?? known.get(stepId) ?? null)
    rows.push({ type: 'entry', key: `e${seq} ${kind}`, seq, entry, step, isOver })
  }
  for (; next < steps.length; next++) {
    addStep(rows, steps[next] as StepSkeleton, told, depths, isBrief)
    if (++work % SLICE === 0) yield
  }
  return rows
}

/** A model that only asks for tools says nothing; its calls have rows of their own. */
const isSilent = (entry: TranscriptEntry): boolean =>
  entry.kind === 'message' && !entry.erased && (entry.content === null || entry.content === '')

const performerOf = (entry: TranscriptEntry): string | null =>
  entry.kind === 'tool_call' ? entry.performedBy : null

/** A call of which only the start was read: its step has the rest. */
function isLeftOpen(entry: TranscriptEntry, known: ReadonlyMap<string, StepSkeleton>): boolean {
  if (entry.kind !== 'tool_call' || entry.outcome !== null || entry.toolCallId !== null) return false
  return entry.stepId !== null && known.get(entry.stepId)?.endedSeq != null
}

function addStep(
  rows: TranscriptItem[],
  step: StepSkeleton,
  told: ReadonlySet<string>,
  depths: Map<string, number>,
  isBrief: boolean,
): void {
  const { stepId, parentStepId, nodeName: name, kind, startedSeq: seq } = step
  const depth = parentStepId === null ? 0 : (depths.get(parentStepId) ?? 0) + 1
  depths.set(stepId, depth)
  if (told.has(stepId)) return
  const isUnread = isBrief && (showsInputOutput(kind) || step.childRunId !== null)
  const last = rows.at(-1)
  if (!isUnread && last?.type === 'steps' && last.name === name && last.kind === kind && last.depth === depth)
    (last.steps as StepSkeleton[]).push(step)
  else rows.push({ type: 'steps', key: `s${seq}`, seq, name, kind, depth, steps: [step], isUnread })
}

/** Text of a message whose content is text, or a list of parts. */
export function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return null
  const texts = content.map((part: unknown) => {
    if (typeof part === 'string') return part
    const text: unknown = typeof part === 'object' && part !== null ? Reflect.get(part, 'text') : undefined
    return typeof text === 'string' ? text : null
  })
  return texts.length > 0 && texts.every((text) => text !== null) ? texts.join('\n\n') : null
}

const ASKED = ['question', 'prompt', 'message', 'text', 'query', 'topic', 'task', 'content', 'q', 'title']

/** Text of an input; null if it has none. */
export function wordsOf(input: unknown): string | null {
  const work: unknown[] = [input]
  for (let looked = 0; work.length > 0 && looked < 50; looked++) {
    const value = work.shift()
    if (typeof value === 'string') return value.trim() === '' ? null : value
    if (Array.isArray(value)) work.push(value.at(-1))
    else if (typeof value === 'object' && value !== null) {
      const key = ASKED.find((each) => Object.hasOwn(value, each))
      if (key !== undefined) work.unshift(Reflect.get(value, key))
      else
        work.push(
          ...Object.values(value)
            .slice(0, 5)
            .filter((each) => typeof each === 'object' || typeof each === 'string'),
        )
    }
  }
  return null
}
