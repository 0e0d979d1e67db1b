import { type ClewEvent, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import { requestStop, type StopOptions } from '../lifecycle/request-stop.ts'
import { createRunLog } from '../log/run-log.ts'
import type { Program } from '../machine/program.ts'
import { unknownRun } from '../run/unknown-run.ts'
import type { RunResult } from '../run/result.ts'
import { resultOfRun } from '../run/sleep-through.ts'
import { type SentSignal, signal, type SignalOptions } from '../signal/signal.ts'
import { type WaitOptions, waitForRun } from './wait-for-run.ts'

/** A run that somebody else may be working on. */
export interface RunHandle<Result = RunResult> {
  readonly id: string
  /** Waits until the run has ended, asks something or is blocked, or until `waitMs` is over: then the run as it is. */
  result(options?: WaitOptions): Promise<Result>
  /** Its events, those to come too, until it has ended. */
  follow(options?: { readonly signal?: AbortSignal | undefined }): AsyncGenerator<ClewEvent>
  /** Sends it a signal (W3). */
  signal(name: string, payload?: unknown, options?: SignalOptions): Promise<SentSignal>
  /** Asks it to stop. One that nobody works on, such as a waiting one, is stopped at once. */
  stop(options?: StopOptions): Promise<RunSummary>
}

/** How the output of a completed run is read. */
type OutputReader = Pick<Program, 'outputOf'>

/** Without the code of the agent: the output as the record has it. */
const RECORDED: OutputReader = {
  outputOf: async (ledger, runId) => (await ledger.getRun(runId, { values: true }))?.output,
}

/** A handle of any run in the ledger, for processes that do not have its agent. */
export const openRunHandle = (ledger: Ledger, runId: string): RunHandle =>
  createRunHandle(ledger, runId, RECORDED)

export function createRunHandle(ledger: Ledger, runId: string, reader: OutputReader): RunHandle {
  return {
    id: runId,
    result: (options) => readResult(ledger, runId, reader, options),
    follow: (options) => followRun(ledger, runId, options),
    signal: (name, payload, options) => signal(ledger, runId, name, payload, options),
    stop: (options) => requestStop(ledger, runId, options),
  }
}

/** The result of a run, whoever works on it; waits for it as long as it is asked to. */
export async function readResult(
  ledger: Ledger,
  runId: string,
  reader: OutputReader,
  options?: WaitOptions,
): Promise<RunResult> {
  const run = await waitForRun(ledger, runId, options)
  if (!run) throw unknownRun(runId)
  const log = createRunLog({ graphName: run.agent ?? '', runId, now: () => performance.now() })
  return resultOfRun(ledger, reader, run, { log })
}

async function* followRun(
  ledger: Ledger,
  runId: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<ClewEvent> {
  if (!(await ledger.getRun(runId))) throw unknownRun(runId)
  for await (const event of ledger.follow({ runId, signal })) {
    yield event
    if (!/^(?:system\.workflow|execution\.completed)/.test(event.eventType)) continue
    const run = await ledger.getRun(runId)
    if (run && isTerminal(run.status) && event.ledger.seq >= (run.forkedFrom?.seq ?? 0) + run.events) return
  }
}
