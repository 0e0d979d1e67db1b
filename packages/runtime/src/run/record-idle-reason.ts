import { ClewError, type ClewEvent, type RunSummary } from '@clew/ledger'
import { divergenceError } from './divergence-error.ts'
import { type EventDraft, isUnstorable } from '../machine/run-appender.ts'
import type { IdleReason, LiveMachine } from '../machine/machine-types.ts'
import type { RunFacts, RunPause, RunResult } from './result.ts'
import { stackOf, StepError, toStepError } from './run.ts'
import type { ActiveRun } from './acquire-run.ts'
import { clockIn } from '../machine/writes.ts'

/** Why a run is interrupted that was left on purpose: no process died of it. */
export const HANDED_OVER = 'handed over'

/** Writes what the machine's rest means; undefined when the run goes on at once. */
export async function recordIdleReason(
  take: ActiveRun,
  machine: LiveMachine,
  rest: IdleReason,
  events: readonly ClewEvent[],
  warned: ReadonlySet<string>,
): Promise<RunResult | undefined> {
  const { hold, journal, ledger, runId } = take
  const warnings = [...warned]
  const told: IdleReport = { warnings, fields: warnings.length > 0 ? { warnings } : {} }
  const lifeIds = [hold.epoch, (events.at(-1) as ClewEvent).ledger.seq]
  switch (rest.type) {
    case 'suspended':
      return undefined
    case 'ended':
      return end(take, machine, rest, told)
    case 'left':
      if (hold.paused.aborted) return letGo(take, machine, told)
      await journal.send([
        machine.draft('system.workflow_interrupted', lifeIds, machine.cause, {
          reason: HANDED_OVER,
          ...told.fields,
        }),
      ])
      return resultOf(take, machine, 'interrupted', told)
    case 'stopped': {
      const overdue = deadlineErrorOf(take)
      return overdue ? expire(take, machine, overdue, rest.stops, told) : stop(take, machine, rest, told)
    }
    case 'blocked': {
      const { kind, stepId, expected, secretKind, redactedFrom } = rest.divergence
      await journal.send([
        journal.draft('system.workflow_blocked', lifeIds, machine.cause, {
          reason: `diverged: ${kind}`,
          ...(stepId !== null && { stepId }),
          ...(kind === 'redacted' && { path: String(expected) }),
          ...(secretKind !== undefined && { secretKind }),
          ...(redactedFrom && { redactedFrom }),
          ...told.fields,
        }),
      ])
      const { divergence } = rest
      return resultOf(take, machine, 'blocked', told, { divergence, error: divergenceError(divergence) })
    }
    case 'waiting': {
      const { asked, pauses, awaits, seenSeq, dueAt: due } = rest
      const dueAt = due === undefined ? null : new Date(due).toISOString()
      const paused = machine.draft(
        'system.workflow_paused',
        lifeIds,
        asked.at(-1)?.eventId ?? machine.cause,
        {
          pauseIds: pauses.map(({ pauseId }) => pauseId),
          ...(dueAt !== null && { dueAt }),
          ...(awaits.length > 0 && { awaits: awaits.map((wait) => ({ ...wait })), seenSeq }),
          ...told.fields,
        },
      )
      await journal.send([...asked, paused])
      // A paused run has questions, and the pauses have their form.
      const facts = { pauses: pauses as readonly RunPause[], dueAt, awaits }
      const run = awaits.length > 0 ? await ledger.getRun(runId) : null
      if (run && isWoken(run, dueAt))
        return resultOf(take, machine, 'pending', told, { ...facts, dueAt: run.dueAt ?? run.updatedAt })
      const status = pauses.length > 0 || awaits.length > 0 || dueAt === null ? 'paused' : 'pending'
      return resultOf(take, machine, status, told, facts)
    }
  }
}

/** A signal came that the machine had not seen when it paused. */
const isWoken = ({ status, dueAt, held }: RunSummary, ownDueAt: string | null): boolean =>
  !held && (status === 'pending' || (status === 'paused' && dueAt !== ownDueAt))

/** Warnings of the run, for the caller and for the record. */
interface IdleReport {
  readonly warnings: readonly string[]
  readonly fields: { readonly warnings?: readonly string[] }
}

/** The error of a run that was stopped by its deadline and not on request. */
function deadlineErrorOf({ options, hold }: ActiveRun): ClewError | undefined {
  const reason: unknown = options.signal?.reason
  return hold.stopRequested === null && reason instanceof ClewError && reason.code === 'deadline'
    ? reason
    : undefined
}

async function expire(
  take: ActiveRun,
  machine: LiveMachine,
  { name, code, message }: ClewError,
  stops: Extract<IdleReason, { type: 'stopped' }>['stops'],
  told: IdleReport,
): Promise<RunResult> {
  const error = new StepError({ name, code, message }, null)
  const failed = machine.draft('system.workflow_failed', [], machine.cause, {
    error: error.toJSON(),
    ...told.fields,
  })
  await take.journal.send([...stops, failed])
  return resultOf(take, machine, 'failed', told, { error })
}

/** An operator has it paused: it goes on where it stands when it is resumed. */
async function letGo(take: ActiveRun, machine: LiveMachine, told: IdleReport): Promise<RunResult> {
  const { hold, journal } = take
  const reason = String(hold.paused.reason)
  await journal.send([
    machine.draft('system.workflow_paused', ['by hand', hold.epoch], machine.cause, {
      reason,
      ...told.fields,
    }),
  ])
  return resultOf(take, machine, 'paused', told)
}

async function stop(
  take: ActiveRun,
  machine: LiveMachine,
  {
    reason,
    stops,
  }: { readonly reason: string; readonly stops: Extract<IdleReason, { type: 'stopped' }>['stops'] },
  told: IdleReport,
): Promise<RunResult> {
  const stopped = machine.draft('system.workflow_stopped', [], machine.cause, { reason, ...told.fields })
  await take.journal.send([...stops, stopped])
  return resultOf(take, machine, 'stopped', told, {
    error: new StepError({ code: 'stopped', message: reason }, null),
  })
}

async function end(
  take: ActiveRun,
  machine: LiveMachine,
  rest: IdleReason & { type: 'ended' },
  told: IdleReport,
): Promise<RunResult> {
  const { journal, program, ledger, runId } = take
  const { outcome, stops } = rest
  // Asked to stop it is stopped, even if everything has finished.
  if ((await ledger.getRun(runId))?.stopRequested)
    return stop(take, machine, { reason: 'stop requested', stops }, told)
  if ('error' in outcome) return fail(outcome.error)
  const kept = program.keptOutput(outcome.output)
  // A graph's output is its state, which is in its last checkpoint.
  const completed =
    kept === undefined ? undefined : machine.draft('execution.completed', [], machine.cause, { output: kept })
  const ended = machine.draft('system.workflow_completed', [], completed?.eventId ?? machine.cause, {
    ...told.fields,
  })
  try {
    await journal.send([...stops, ...(completed ? [completed] : []), ended])
  } catch (error) {
    if (!isUnstorable(error)) throw error
    return fail(toStepError(error, null), completed)
  }
  return resultOf(take, machine, 'completed', told, { output: outcome.output })

  /** `instead` was not written, so the readings of the clock that it carried have to be carried here. */
  async function fail(error: StepError, instead?: EventDraft): Promise<RunResult> {
    const clock = instead ? clockIn(instead.payload) : []
    // An error of a step has its stack in the step's event.
    const stack = error.stepId === null ? stackOf(error) : undefined
    const failed = machine.draft('system.workflow_failed', [], machine.cause, {
      error: error.toJSON(),
      ...(stack !== undefined && { stack }),
      ...(clock.length > 0 && { clock }),
      ...told.fields,
    })
    await journal.send([...stops, failed])
    return resultOf(take, machine, 'failed', told, { error })
  }
}

function resultOf(
  { runId, threadId, log }: ActiveRun,
  { writeErrors }: LiveMachine,
  status: RunResult['status'],
  { warnings }: IdleReport,
  more: Partial<Omit<RunFacts, 'runId'>> & { readonly output?: unknown; readonly error?: StepError } = {},
): RunResult {
  log.end()
  return {
    runId,
    threadId,
    status,
    output: undefined,
    pause: more.pauses?.[0] ?? null,
    pauses: [],
    dueAt: null,
    awaits: [],
    error: null,
    divergence: null,
    log: log.log,
    checkpointOk: writeErrors.length === 0,
    checkpointErrors: writeErrors,
    warnings,
    fidelity: null,
    ...more,
    // Each caller gives what its status has.
  } as RunResult
}
