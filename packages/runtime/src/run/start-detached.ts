import { ClewError, type Ledger } from '@clew/ledger'
import type { Program } from '../machine/program.ts'
import { submitRun } from '../work/submit-run.ts'
import { resumeRun } from './resume-run.ts'
import type { RunOptions } from './run-options.ts'

/** Another process has it: a worker, or whoever resumed it. */
const TAKEN: ReadonlySet<string> = new Set(['busy', 'not_resumable', 'stale_epoch', 'closed'])

/**
 * Begins a child run that its parent does not wait for (W7). It is submitted, which is durable and happens once, whatever is
 * tried again; then it runs in this process, unless that is a worker, which claims it like any other run.
 */
export async function startDetached(
  ledger: Ledger,
  program: Program,
  { runId, input }: { readonly runId: string; readonly input: unknown },
  {
    shutdown,
    suspendAlways,
    isWorker,
  }: Pick<RunOptions, 'shutdown' | 'suspendAlways'> & { isWorker: boolean },
): Promise<string> {
  await submitRun(ledger, program.name, input, { runId })
  if (!isWorker) void runHere(ledger, program, runId, { shutdown, suspendAlways })
  return runId
}

async function runHere(
  ledger: Ledger,
  program: Program,
  runId: string,
  options: Pick<RunOptions, 'shutdown' | 'suspendAlways'>,
): Promise<void> {
  try {
    await resumeRun(ledger, program, runId, options)
  } catch (error) {
    if (error instanceof ClewError && TAKEN.has(error.code)) return
    // The run is on record: a worker or a resume goes on with it.
    process.emitWarning(`The detached run ${runId} could not go on in this process`, {
      code: 'CLEW_DETACHED',
      detail: error instanceof Error ? error.message : String(error),
    })
  }
}
