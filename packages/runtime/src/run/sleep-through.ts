import { ClewError, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import { isDue } from '../pause/settle-pauses.ts'
import { createChanges } from '../signal/changes.ts'
import type { Program } from '../machine/program.ts'
import type { RunPause, RunResult } from './result.ts'
import { goOnWithRun } from './resume-run.ts'
import { StepError } from './run.ts'
import type { Carried, RunOptions } from './run-options.ts'
import { sleepUntil } from './sleep.ts'

/** Polling interval of a sleeping run: another process may have resumed or stopped it. */
const LOOK_MS = 1000

/** Waits until a sleeping run is due, or the signal that it waits for has come, and resumes it. No lease is held and no code is running meanwhile. */
export async function sleepThrough(
  ledger: Ledger,
  program: Program,
  first: RunResult,
  options: RunOptions,
  carried: Carried,
): Promise<RunResult> {
  let result = first
  while (isResting(result) && !options.shutdown?.signal.aborted)
    result = await wake(ledger, program, result, options, carried)
  return result
}

/** It goes on by itself: nobody has to answer anything. */
const isResting = ({ status, dueAt, pauses, awaits }: RunResult): boolean =>
  status === 'pending' ? dueAt !== null : status === 'paused' && pauses.length === 0 && awaits.length > 0

async function wake(
  ledger: Ledger,
  program: Program,
  asleep: RunResult,
  options: RunOptions,
  carried: Carried,
): Promise<RunResult> {
  const { runId, dueAt } = asleep
  const due = dueAt === null ? Number.POSITIVE_INFINITY : Date.parse(dueAt)
  const { signal, listener, suspendAlways, shutdown } = options
  const ends = shutdown ? AbortSignal.any([shutdown.signal, ...(signal ? [signal] : [])]) : signal
  const changes = asleep.awaits.length > 0 ? createChanges(ledger) : undefined
  let run = await ledger.getRun(runId)
  try {
    while (isAsleep(run, asleep) && Date.now() < due && !ends?.aborted) {
      const until = Math.min(due, Date.now() + LOOK_MS)
      await (changes ? changes.wait(until, ends) : sleepUntil(until, ends))
      run = await ledger.getRun(runId)
    }
  } finally {
    changes?.close()
  }
  if (run && isAsleep(run, asleep) && shutdown?.signal.aborted && !signal?.aborted) return asleep
  if (run && (isTerminal(run.status) || run.status === 'blocked' || isHeldUp(run)))
    return resultOfRun(ledger, program, run, carried)
  try {
    const again = { signal, listener, suspendAlways, shutdown, onBusy: 'wait' } as const
    return await goOnWithRun(ledger, program, runId, again, { ...carried, isWoken: true })
  } catch (error) {
    // Another process resumed the run in the meantime.
    const now =
      error instanceof ClewError && error.code === 'not_resumable' ? await ledger.getRun(runId) : null
    if (now && now.status !== 'running') return resultOfRun(ledger, program, now, carried)
    throw error
  }
}

const isAsleep = (run: RunSummary | null, { status, dueAt, awaits }: RunResult): boolean =>
  run?.status === status &&
  run.dueAt === dueAt &&
  (awaits.length === 0 || run.awaits !== undefined) &&
  !run.held

/** Somebody has to do something before it can go on: answer, or resume it. */
const isHeldUp = ({ status, dueAt, pauses, held }: RunSummary): boolean =>
  status === 'paused' && (held !== undefined || (pauses.length > 0 && !isDue({ dueAt })))

/** Result of a run that another process continued. */
export async function resultOfRun(
  ledger: Ledger,
  program: Pick<Program, 'outputOf'>,
  run: RunSummary,
  { log }: Pick<Carried, 'log'>,
): Promise<RunResult> {
  const { runId, threadId, status, error, dueAt, held } = run
  // One that is held waits for the operator alone.
  const awaits = held ? [] : (run.awaits ?? [])
  const pauses = run.pauses as readonly RunPause[]
  const facts = {
    runId,
    threadId,
    pause: pauses[0] ?? null,
    pauses,
    dueAt,
    awaits,
    divergence: null,
    log: log.log,
    checkpointOk: true,
    checkpointErrors: [],
    warnings: [],
    fidelity: null,
  }
  const output = undefined
  switch (status) {
    case 'completed':
      return { ...facts, status, output: await program.outputOf(ledger, runId), error: null }
    case 'failed':
      return { ...facts, status, output, error: new StepError(error ?? {}, null) }
    case 'blocked':
      return { ...facts, status, output, error: blockedElsewhere(runId) }
    default:
      return { ...facts, status, output, error: error && new StepError(error, null) }
  }
}

const blockedElsewhere = (runId: string): StepError =>
  new StepError(
    {
      name: 'DivergenceError',
      code: 'diverged',
      message: `Run ${runId} was blocked by another resume, whose code is not what its record has. Resume it with the code it began with, or fork it.`,
    },
    null,
  )
