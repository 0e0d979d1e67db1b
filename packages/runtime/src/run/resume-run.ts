import {
  ClewError,
  type ClewEvent,
  isTerminal,
  isUnstarted,
  type Ledger,
  type RunSummary,
} from '@clew/ledger'
import { runUntilIdle } from './run-until-idle.ts'
import { checkBudget } from '../options/check-options.ts'
import type { Program } from '../machine/program.ts'
import { answersWithSecrets } from '../machine/redacted-input.ts'
import { createOptionCheck } from '../options/known-options.ts'
import { assertMode } from './mode.ts'
import type { ResumeDivergence, RunResult } from './result.ts'
import type { Carried, ResumeOptions } from './run-options.ts'
import { budgetField, readBounds, resumedBudget } from './run-bounds.ts'
import { settlePauses } from '../pause/settle-pauses.ts'
import { sleepThrough } from './sleep-through.ts'
import { beginLog, type ActiveRun, acquireRun } from './acquire-run.ts'
import { unknownRun } from './unknown-run.ts'
import { withSecrets } from './with-secrets.ts'
import { beginSubmitted } from '../work/begin-submitted.ts'
import { isBeginning } from './beginning.ts'

/** Also accepts the options of streams, and those of an `invoke(null)` that goes on. */
const checkResumeOptions = createOptionCheck<ResumeOptions>(
  {
    answer: true,
    pauseId: true,
    answers: true,
    by: true,
    replaceBudget: true,
    onDivergence: true,
    secrets: true,
    claimed: true,
    signal: true,
    budget: true,
    onBusy: true,
    listener: true,
    shutdown: true,
    suspendAlways: true,
  },
  [
    'mode',
    'children',
    'runId',
    'threadId',
    'session',
    'subjects',
    'tags',
    'causedBy',
    'recursionLimit',
    'afterFailure',
  ],
)

export async function resumeRun(
  ledger: Ledger,
  program: Program,
  runId: string,
  options: ResumeOptions = {},
): Promise<RunResult> {
  checkResumeOptions(options, 'This resume')
  checkBudget(options.budget, 'this run')
  checkBudget(options.replaceBudget, 'this run')
  const log = beginLog(program, runId)
  const { ledger: known, options: given } = await useSecrets(ledger, program, runId, options)
  const result = await goOnWithRun(known, program, runId, given, { log })
  if (options.claimed) return result
  return sleepThrough(known, program, result, options, { log })
}

/** The ledger with the secrets that this resume brings, which also answer the questions that ask for them. */
async function useSecrets(
  ledger: Ledger,
  program: Program,
  runId: string,
  options: ResumeOptions,
): Promise<{ readonly ledger: Ledger; readonly options: ResumeOptions }> {
  const { secrets = [], answers } = options
  if (secrets.length === 0) return { ledger, options }
  const run = await ledger.getRun(runId)
  assertResumable(run, runId, program)
  const known = await withSecrets(ledger, runId, secrets)
  return {
    ledger: known,
    options: { ...options, answers: { ...answersWithSecrets(run.pauses), ...answers } },
  }
}

/** A run that is there up to its end or its next long wait. */
export async function goOnWithRun(
  ledger: Ledger,
  program: Program,
  runId: string,
  options: ResumeOptions = {},
  { input, log, isWoken, areInTime, unlessPaused }: Partial<Carried> = {},
): Promise<RunResult> {
  assertMode(ledger, 'resume')
  const run = await ledger.getRun(runId)
  assertResumable(run, runId, program)
  const take = await acquireRun(ledger, program, { runId, threadId: run.threadId, isWoken }, options, log)
  try {
    const events = await program.load(ledger, runId)
    const current = await ledger.getRun(runId)
    assertResumable(current, runId, program, events)
    if (unlessPaused && current.status === 'paused') throw pausedMeanwhile(runId)
    if (isUnstarted(events)) return await beginSubmitted(take, events)
    const { drafts, given } = await settlePauses(current, events, options, take.journal, {
      areInTime,
    })
    const { workedMs, ...recorded } = await readBounds(ledger, runId, program.budget)
    const budget = resumedBudget(recorded.budget, options)
    const bounds = { budget, workedMs }
    const isChanged = options.budget !== undefined || options.replaceBudget !== undefined
    const resumed = take.journal.draft(
      'system.workflow_resumed',
      [take.hold.epoch],
      drafts.at(-1)?.eventId ?? (events.at(-1) as ClewEvent).eventId,
      {
        reason: drafts.length > 0 ? 'answered' : current.status,
        epoch: take.hold.epoch,
        ...(isChanged && budgetField(budget)),
      },
    )
    const added = await take.journal.send([...drafts, resumed])
    const result = await runUntilIdle(take, [...events, ...added], {
      input,
      bounds,
      deadlineAt: current.deadlineAt,
      madeBefore: events,
      answers: given,
      stepsBefore: isWoken ? undefined : current.steps,
    })
    if (options.onDivergence !== 'accept' || !mayBeAccepted(result.divergence)) return result
    await accept(take, result.divergence, options.by)
    return await runUntilIdle(take, await program.load(ledger, runId), {
      input,
      bounds,
      deadlineAt: current.deadlineAt,
      madeBefore: events,
      answers: given,
    })
  } finally {
    await take.hold.release()
  }
}

/** Redacted values cannot be accepted, and a difference in a child run has to be accepted in that run. */
const mayBeAccepted = (found: ResumeDivergence | null): found is ResumeDivergence =>
  found !== null && found.childRunId === undefined && found.kind !== 'redacted'

async function accept(
  { journal, hold }: ActiveRun,
  { kind, stepId }: ResumeDivergence,
  by: string | undefined,
): Promise<void> {
  const accepted = journal.draft('system.divergence_accepted', [hold.epoch], null, {
    kind,
    ...(stepId !== null && { stepId }),
    ...(by !== undefined && { by }),
  })
  const resumed = journal.draft('system.workflow_resumed', [hold.epoch, 'accepted'], accepted.eventId, {
    reason: 'accepted',
    epoch: hold.epoch,
  })
  await journal.send([accepted, resumed])
}

/** Order of checks: does it exist, is it of this agent, is it still the same program, is it over. */
function assertResumable(
  run: RunSummary | null,
  runId: string,
  program: Program,
  events?: readonly ClewEvent[],
): asserts run is RunSummary {
  const refuse = (message: string, hint: string): never => {
    throw new ClewError('not_resumable', message, `${hint} Nothing was changed.`, {
      runId,
      status: run?.status,
    })
  }
  if (!run) throw unknownRun(runId)
  if (run.agent !== null && run.agent !== program.name)
    refuse(`Run ${runId} is one of ${run.agent}, not of ${program.name}`, 'Resume it with its own agent.')
  // A fork may have begun with another graph than its source.
  const recorded = events?.filter(isBeginning).findLast(({ payload }) => payload.structureHash !== undefined)
    ?.payload.structureHash
  if (program.structureHash !== null && recorded !== undefined && recorded !== program.structureHash)
    refuse(
      `The graph ${program.name} has changed since run ${runId} began`,
      'Resume it with the graph it began with, or fork it: a fork takes over what is still the same.',
    )
  if (run.status === 'completed' || run.status === 'partial')
    refuse(
      `Run ${runId} has completed: there is nothing to resume`,
      'Start the next turn on its thread, or fork it.',
    )
  if (isTerminal(run.status))
    refuse(
      `Run ${runId} has ended as ${run.status}`,
      run.status === 'failed' || run.status === 'stopped'
        ? 'Go on where it ended with retry, or fork it from another step.'
        : 'Fork it from the step where it should go on.',
    )
}

const pausedMeanwhile = (runId: string): ClewError =>
  new ClewError('not_resumable', `Run ${runId} waits for an answer`, 'Resume it with one.', { runId })
