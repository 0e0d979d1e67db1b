import type { EventInput, Payload } from '@clew/ledger'
import type { Entry, IdentifiedEvent } from './entry.ts'
import type { InterruptFound } from './interrupts.ts'
import type { OpenStep, RecordedRun, Scope } from './recorded-run.ts'
import type { StepCompletion } from './session-trace.ts'
import { type ErrorRecord, toRecord } from './to-record.ts'

export interface Ends {
  /** Ends a step with what belongs to its end; at the top of an own run, the run as well. */
  endStep(
    entry: Entry,
    before: readonly IdentifiedEvent[],
    end: StepEnd,
    completion: StepCompletion,
  ): Promise<void>
  endRoot(entry: Entry, outcome: RunOutcome): Promise<void>
  failTool(entry: Entry, error: ErrorRecord): Promise<void>
  /** The step that asks is paused, and those around it stay open: the answer lets them go on. */
  pause(entry: Entry, found: readonly InterruptFound[]): Promise<void>
}

interface StepEnd {
  readonly type: 'execution.step_completed' | 'execution.step_failed' | 'execution.step_stopped'
  readonly payload: Payload & { readonly error?: ErrorRecord; readonly reason?: string }
}

interface RunOutcome {
  readonly output?: unknown
  readonly input?: unknown
  readonly error?: ErrorRecord | undefined
  readonly stopped?: string | undefined
}

/** Inside which step something happened. */
export const within = ({ step }: Pick<Entry, 'step'>): Payload =>
  step ? { stepId: step.stepId, ...(step.attempt > 1 && { attempt: step.attempt }) } : {}

export function callIdOf({ toolCallId }: Entry, told: unknown): Payload {
  const found = toolCallId ?? told
  return typeof found === 'string' ? { toolCallId: found } : {}
}

/** Cause of the end: the last step, or the start if several steps ran concurrently. */
const lastOf = ({ open, together, isSuperstep, lastEndId, startId }: Scope): string | null =>
  open === 0 && (together === 1 || isSuperstep) ? lastEndId : startId

export function createEnds(entries: Map<string, Entry>): Ends {
  const ends: Ends = {
    async endStep(entry, before, { type, payload }, completion) {
      const { run, step, lcRunId, isTop } = entry
      entries.delete(lcRunId)
      if (!step) return
      const ended = run.draft({
        type,
        key: [lcRunId],
        cause: before.at(-1)?.eventId ?? lastOf(step),
        payload: { ...within(entry), ...payload },
      })
      // The run ended before, and its end has recorded this one's.
      if (!run.close(step, ended.eventId)) return
      const { error, output, reason: stopped } = payload
      const rest = isTop && run.owns ? endOfRun(run, lcRunId, ended.eventId, { error, output, stopped }) : []
      await run.append([...before, ended, ...rest])
      await entry.live?.complete(completion)
    },

    async endRoot({ run, lcRunId, scope }, outcome) {
      entries.delete(lcRunId)
      await run.append(endOfRun(run, lcRunId, lastOf(scope), outcome))
    },

    async failTool(entry, error) {
      const failed = entry.run.draft({
        type: 'execution.tool_error',
        key: [entry.lcRunId],
        cause: entry.callEventId ?? entry.step?.startId ?? null,
        origin: 'integration',
        payload: { ...callIdOf(entry, undefined), name: entry.name, ...within(entry), error },
      })
      const end = { type: 'execution.step_failed', payload: { error } } as const
      await ends.endStep(entry, entry.run.isJoined ? [] : [failed], end, { content: error.message })
    },

    async pause(entry, found) {
      const { run, step, lcRunId } = entry
      entries.delete(lcRunId)
      const asked = found
        .filter(({ pauseId }) => !run.pauses.has(pauseId))
        .map(({ pauseId, question }) =>
          run.draft({
            type: 'ui.input_requested',
            // The framework gives all questions of one node one id.
            key: [lcRunId, pauseId],
            cause: step ? lastOf(step) : run.scope.startId,
            payload: { pauseId, question: toRecord(question), ...within(entry) },
          }),
        )
      for (const { eventId, payload } of asked) run.pauses.set(String(payload?.['pauseId']), eventId)
      if (step) {
        step.waits = true
        step.parent.open--
      }
      if (!run.isJoined)
        await run.append([...asked, ...(entry.isTop && run.owns ? endOfRun(run, lcRunId, null, {}) : [])])
      await entry.live?.complete({})
    },
  }
  return ends
}

/** With the end of a run go the stops of all that it leaves running. */
function endOfRun(
  run: RecordedRun,
  lcRunId: string,
  cause: string | null,
  outcome: RunOutcome,
): EventInput[] {
  const isPaused = run.pauses.size > 0
  const stops = run.unfinishedSteps(isPaused).map((step) => stop(run, lcRunId, step, cause))
  const end = (type: string, by: string | null, payload: Payload): EventInput =>
    run.draft({ type, key: [lcRunId], cause: by, origin: 'system', payload })
  if (isPaused) {
    const pauseIds = [...run.pauses.keys()]
    return [...stops, end('system.workflow_paused', [...run.pauses.values()].at(-1) ?? cause, { pauseIds })]
  }
  const { error, stopped, output, input } = outcome
  if (stopped !== undefined) return [...stops, end('system.workflow_stopped', cause, { reason: stopped })]
  if (error) return [...stops, end('system.workflow_failed', cause, { error })]
  const given = input === undefined ? {} : { input }
  const payload = { output: output ?? null, ...given }
  const completed = run.draft({ type: 'execution.completed', key: [lcRunId], cause, payload })
  return [...stops, completed, end('system.workflow_completed', completed.eventId, {})]
}

export function stop(run: RecordedRun, lcRunId: string, step: OpenStep, cause: string | null): EventInput {
  const stopped = run.draft({
    type: 'execution.step_stopped',
    key: [lcRunId, step.stepId, String(step.attempt)],
    cause,
    payload: { ...within({ step }), reason: 'left behind by its run' },
  })
  run.close(step, stopped.eventId)
  return stopped
}
