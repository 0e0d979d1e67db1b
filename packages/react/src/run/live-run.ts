import {
  beginsStep,
  type ClewEvent,
  countUsage,
  foldRun,
  foldStep,
  type RunSummary,
  sortExportedSteps,
  stepKey,
  type StepSkeleton,
  toSkeleton,
} from '@clew/ledger'

/**
 * Summary and steps of one run: first as the server answered them, then continued event by event with the folds that
 * the stores use, so that the page shows what a reload would show.
 */
export interface LiveRun {
  /** Starts from a summary. Events up to the summary's last one must not be applied any more. */
  begin(run: RunSummary): void
  /** Takes a summary that was read later; events that it already contains may still be applied. */
  refresh(run: RunSummary): void
  /** Adds or replaces a step, as pages of them arrive in the order of their start. */
  putStep(step: StepSkeleton): void
  apply(event: ClewEvent): void
  /** The newest summary; null before `begin`. */
  run(): RunSummary | null
  /** Seq of the last event applied, or of the last one in the summary of `begin`. */
  seq(): number
  findStep(attempt: number, stepId: string): StepSkeleton | undefined
  /** Steps in the order of their start; a new list whenever something changed, else the same as before. */
  steps(): readonly StepSkeleton[]
}

/** Seq of the last event that a summary contains. */
const lastSeqOf = ({ forkedFrom, events }: RunSummary): number => (forkedFrom?.seq ?? 0) + events

export function createLiveRun(): LiveRun {
  const indexes = new Map<string, number>()
  let steps: StepSkeleton[] = []
  let isShared = false
  let folded: RunSummary | null = null
  /** A summary that contains events which were not applied yet. */
  let ahead: RunSummary | null = null
  let seq = 0
  /** Steps that a fork shares with its source: they count for the numbers of supersteps, but not in the summary. */
  let sourceSteps = 0

  function findStep(attempt: number, stepId: string): StepSkeleton | undefined {
    const index = indexes.get(`${attempt} ${stepId}`)
    return index === undefined ? undefined : steps[index]
  }

  /** A step that this run began itself: a fork's summary knows no others. */
  function findOwnStep(attempt: number, stepId: string): StepSkeleton | undefined {
    const step = findStep(attempt, stepId)
    return step?.runId === folded?.runId ? step : undefined
  }

  function putStep(step: StepSkeleton): void {
    // The list that `steps` returned last is still being read.
    if (isShared) steps = [...steps]
    isShared = false
    const key = `${step.attempt} ${step.stepId}`
    const index = indexes.get(key)
    if (index !== undefined) steps[index] = step
    else {
      indexes.set(key, steps.length)
      steps.push(step)
      if (folded !== null && step.runId !== folded.runId) sourceSteps++
    }
  }

  /** Spans arrive as they end, a root last of all. */
  function sortSteps(): void {
    steps = sortExportedSteps(steps)
    for (const [index, step] of steps.entries()) indexes.set(`${step.attempt} ${step.stepId}`, index)
  }

  const billed = { find: (stepId: string) => findOwnStep(1, stepId), put: putStep }

  return {
    begin(run) {
      folded = run
      ahead = null
      seq = lastSeqOf(run)
    },
    refresh(run) {
      if (lastSeqOf(run) > seq) ahead = run
      else if (lastSeqOf(run) === seq) folded = run
    },
    putStep,
    apply(event) {
      if (folded === null) return
      const key = stepKey(event)
      const begins = beginsStep(event, key && findOwnStep(key.attempt, key.stepId) !== undefined)
      const before = key && findStep(key.attempt, key.stepId)
      const step = key && foldStep(before, event, sourceSteps + folded.steps)
      if (step) putStep(toSkeleton(step))
      const awaited = new Set(folded.awaited)
      const usage = countUsage(event, { ...billed, awaited }, folded.modelCalls, begins)
      folded = foldRun(folded, event, usage, begins, awaited)
      seq = event.ledger.seq
      if (ahead && lastSeqOf(ahead) <= seq) {
        // The steps may have been read after the first summary, so this one is right where the folded one may not be.
        if (lastSeqOf(ahead) === seq) folded = ahead
        ahead = null
      }
    },
    run: () => ahead ?? folded,
    seq: () => seq,
    findStep,
    steps() {
      if (folded?.exported && !isShared) sortSteps()
      isShared = true
      return steps
    },
  }
}
