import type { ClewEvent, Ledger } from '@clew/ledger'
import { type RunLease, leaseRun } from '../lifecycle/lease-run.ts'
import { createRunLog, type RunLogBuilder } from '../log/run-log.ts'
import { type RunAppender, openRunAppender } from '../machine/run-appender.ts'
import type { Program } from '../machine/program.ts'
import type { ResumeOptions, RunOptions } from './run-options.ts'

/** One run in the hands of this process. */
export interface ActiveRun {
  readonly ledger: Ledger
  readonly program: Program
  readonly runId: string
  readonly threadId: string | null
  readonly hold: RunLease
  readonly journal: RunAppender
  readonly log: RunLogBuilder
  /** Ids of the models that were called while it is in these hands. */
  readonly models: Set<string>
  readonly options: RunOptions & Pick<ResumeOptions, 'onDivergence' | 'claimed'>
}

interface RunThread {
  readonly runId: string
  readonly threadId: string | null
  /** The run slept in this process. A signal aborted during the sleep stops it, so it must not prevent the acquisition. */
  readonly isWoken?: boolean | undefined
}

export async function acquireRun(
  ledger: Ledger,
  program: Program,
  place: RunThread,
  options: RunOptions & Pick<ResumeOptions, 'claimed' | 'onDivergence'>,
  log: RunLogBuilder = beginLog(program, place.runId),
): Promise<ActiveRun> {
  const { onBusy = 'reject', listener, signal, claimed } = options
  const { runId, threadId } = place
  const hold = await leaseRun(ledger, {
    runId,
    threadId,
    claimed,
    onBusy,
    signal: place.isWoken ? undefined : signal,
  })
  const models = new Set<string>()
  const onEvent = (event: ClewEvent): void => {
    const { model } = event.payload
    if (typeof model === 'string') models.add(model)
    listener?.event?.(event)
  }
  const journal = openRunAppender({ ledger, runId, epoch: hold.epoch, onEvent, onStale: hold.lose })
  return {
    ledger,
    program,
    runId,
    threadId,
    hold,
    journal,
    log,
    models,
    options,
  }
}

export const beginLog = ({ name }: Program, runId: string): RunLogBuilder =>
  createRunLog({ graphName: name, runId, now: () => performance.now() })
