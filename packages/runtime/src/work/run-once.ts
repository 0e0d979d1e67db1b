import { ClewError, isTerminal, type Ledger } from '@clew/ledger'
import type { RetryOptions } from '../fork/fork.ts'
import { createOptionCheck } from '../options/known-options.ts'
import { beginLog } from '../run/acquire-run.ts'
import type { Program } from '../machine/program.ts'
import type { RunResult } from '../run/result.ts'
import { goOnWithRun } from '../run/resume-run.ts'
import { checkRunId } from '../run/run-id.ts'
import type { StartOptions } from '../run/run-options.ts'
import { resultOfRun, sleepThrough } from '../run/sleep-through.ts'
import { startRun } from '../run/start-run.ts'
import { assertSameTask, inputDigestOf } from './submit-run.ts'
import { waitForRun } from './wait-for-run.ts'

export interface RunOnceOptions extends Omit<StartOptions, 'runId' | 'onBusy'> {
  /** The run that the same call always means. */
  readonly runId: string
  /** A run that failed or was stopped is tried again from where it failed, as a fork; default: its recorded error. */
  readonly retry?: boolean | undefined
}

const checkRunOnceOptions = createOptionCheck<RunOnceOptions>({
  runId: true,
  threadId: true,
  session: true,
  subjects: true,
  tags: true,
  causedBy: true,
  signal: true,
  budget: true,
  listener: true,
  shutdown: true,
  suspendAlways: true,
  retry: true,
})

/** Longest time until it is looked whether the process that has the run is dead. */
const LOOK_MS = 1000
const OVERTAKEN: ReadonlySet<string> = new Set(['busy', 'conflict', 'not_resumable', 'stale_epoch'])

/**
 * W2: starts a run, goes on with it, waits for whoever works on it, or gives its recorded result, whatever came before: the call
 * that a job which is delivered more than once makes. Another input for the same id is a conflict.
 */
export async function runOnce(
  ledger: Ledger,
  program: Program,
  input: unknown,
  options: RunOnceOptions,
  retry: (options: RetryOptions) => Promise<RunResult>,
): Promise<RunResult> {
  checkRunOnceOptions(options, 'This run')
  const { retry: isRetried = false, ...start } = options
  const inputDigest = inputDigestOf(ledger, program.name, input)
  const { signal, budget, listener, shutdown, suspendAlways } = options
  const further = { signal, budget, listener, suspendAlways }
  let runId = checkRunId(options.runId)
  for (;;) {
    signal?.throwIfAborted()
    const run = await ledger.getRun(runId)
    try {
      if (!run) return await startRun(ledger, program, input, { ...start, onBusy: 'wait' }, inputDigest)
      await assertSameTask(ledger, run, program.name, inputDigest)
      const log = beginLog(program, runId)
      if (isRetried && (run.status === 'failed' || run.status === 'stopped')) {
        // A retry has an id made of this one, so that a call which comes again finds it.
        const newRunId = `${runId}.retry`
        if (!(await ledger.getRun(newRunId))) return await retry({ ...further, ledger, runId, newRunId })
        runId = newRunId
        continue
      }
      if (isTerminal(run.status) || run.status === 'paused' || run.status === 'blocked')
        return await resultOfRun(ledger, program, run, { log })
      const result = await goOnWithRun(
        ledger,
        program,
        runId,
        { ...further, shutdown },
        { log, unlessPaused: true },
      )
      return await sleepThrough(ledger, program, result, options, { log })
    } catch (error) {
      if (!(error instanceof ClewError) || !OVERTAKEN.has(error.code)) throw error
      // Another process has it, or came first: its outcome is the answer.
      const now = await ledger.getRun(runId)
      if (error.code === 'conflict' && (run || !now)) throw error
      await waitForRun(ledger, runId, { waitMs: LOOK_MS, signal })
    }
  }
}
