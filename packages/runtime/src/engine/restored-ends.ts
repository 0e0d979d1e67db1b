import { beginsStep, type ClewEvent } from '@clew/ledger'
import type { Task } from '../graph/plan.ts'
import type { EventDraft, RunAppender } from '../machine/run-appender.ts'
import { digestOfTask, type SuperstepState, stepIdOfTask } from './supersteps.ts'
import { isStepEvent, type StepEvent, stepIdOf } from '../machine/record.ts'

/** A task of a superstep that never came to its end, but which itself did. */
export interface RestoredEnd {
  readonly task: Task
  readonly start: StepEvent
  readonly end: StepEvent
}

/** Tasks of the superstep after this state that had completed when the run stopped. */
export function completedTasks(
  events: readonly ClewEvent[],
  { tasks, superstep }: SuperstepState,
): RestoredEnd[] {
  const starts = new Map<string, StepEvent>()
  const ends = new Map<string, StepEvent>()
  for (const event of events) {
    if (!isStepEvent(event)) continue
    const stepId = stepIdOf(event)
    if (beginsStep(event, starts.has(stepId))) starts.set(stepId, event)
    if (event.eventType === 'execution.step_completed') ends.set(stepId, event)
  }
  return tasks.flatMap((task) => {
    const stepId = stepIdOfTask(task, superstep + 1)
    const [start, end] = [starts.get(stepId), ends.get(stepId)]
    return start && end ? [{ task, start, end }] : []
  })
}

/**
 * The same ends under the step ids of the standing they are carried to, each start and end in one, marked as restored.
 * What they used stays with the steps that ran, or it would be billed again.
 */
export function carryEnds(
  journal: RunAppender,
  carried: readonly RestoredEnd[],
  to: SuperstepState,
  cause: string,
): EventDraft[] {
  const superstep = to.superstep + 1
  return carried.map(({ task, start, end }) => {
    const place = to.tasks.find(({ node, input }) => node === task.node && input === task.input) ?? task
    const stepId = stepIdOfTask(place, superstep)
    const { name, kind, childRunId } = start.payload
    const { output, decision, goto, sends, ends, durationMs } = end.payload
    return journal.draft('execution.step_completed', [stepId, 1], cause, {
      stepId,
      name,
      attempt: 1,
      kind,
      superstep,
      index: place.index,
      inputDigest: digestOfTask(place, to.graph, journal.ledger),
      ...(childRunId !== undefined && { childRunId }),
      ...(output !== undefined && { output }),
      ...(decision !== undefined && { decision }),
      ...(goto !== undefined && { goto }),
      ...(sends !== undefined && { sends }),
      ...(ends !== undefined && { ends }),
      durationMs,
      restored: true,
    })
  })
}
