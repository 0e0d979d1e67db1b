import { ClewError, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import type { Program } from '../machine/program.ts'
import type { RunPause, RunResult } from './result.ts'
import { goOnWithRun } from './resume-run.ts'
import { StepError } from './run.ts'
import type { Carried, RunOptions } from './run-options.ts'
import { sleepUntil } from './sleep.ts'

/** Polling interval of a sleeping run: another process may have resumed or stopped it. */
const LOOK_MS = 1000

/** Waits until a sleeping run is due and resumes it. No lease is held and no code is running during the sleep. */
export async function sleepThrough(
  ledger: Ledger,
  program: Program,
  first: RunResult,
  options: RunOptions,
  carried: Carried,
): Promise<RunResult> {
  let result = first
  while (result.status === 'pending' && result.dueAt !== null && !options.shutdown?.signal.aborted)
    result = await wake(ledger, program, result, options, carried)
  return result
}

async function wake(
  ledger: Ledger,
  program: Program,
  asleep: RunResult,
  options: RunOptions,
  carried: Carried,
): Promise<RunResult> {
  const { runId, dueAt } = asleep
  const due = Date.parse(dueAt as string)
  const { signal, listener, suspendAlways, shutdown } = options
  let run = await ledger.getRun(runId)
  while (isAsleep(run, dueAt) && Date.now() < due && !signal?.aborted) {
    await sleepUntil(Math.min(due, Date.now() + LOOK_MS), signal)
    run = await ledger.getRun(runId)
  }
  if (run && (isTerminal(run.status) || run.status === 'paused' || run.status === 'blocked'))
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

const isAsleep = (run: RunSummary | null, dueAt: string | null): boolean =>
  run?.status === 'pending' && run.dueAt === dueAt

/** Result of a run that another process continued. */
export async function resultOfRun(
  ledger: Ledger,
  program: Pick<Program, 'outputOf'>,
  run: RunSummary,
  { log }: Pick<Carried, 'log'>,
): Promise<RunResult> {
  const { runId, threadId, status, error, dueAt } = run
  const pauses = run.pauses as readonly RunPause[]
  const facts = {
    runId,
    threadId,
    pause: pauses[0] ?? null,
    pauses,
    dueAt,
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
