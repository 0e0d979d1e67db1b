import { ClewError, type ClewEvent, findMessageEvent, type Ledger, supersedeRun } from '@clew/ledger'
import { checkBudget, threadOf } from '../options/check-options.ts'
import { createOptionCheck } from '../options/known-options.ts'
import type { RunLogBuilder } from '../log/run-log.ts'
import type { Program } from '../machine/program.ts'
import type { ChildLink } from '../machine/step.ts'
import { assertMode } from './mode.ts'
import type { RunResult } from './result.ts'
import { existingRun, findPrevious, recordStart } from './record-start.ts'
import { checkRunId } from './run-id.ts'
import type { RunOptions, SessionOptions, StartOptions } from './run-options.ts'
import { sleepThrough } from './sleep-through.ts'
import { beginLog, acquireRun } from './acquire-run.ts'

/** R5: the input is recorded before anything is done with it. */
export async function startRun(
  ledger: Ledger,
  program: Program,
  input: unknown,
  options: StartOptions = {},
  inputDigest?: string,
): Promise<RunResult> {
  checkStartOptions(options, 'This run')
  checkBudget(options.budget, 'this run')
  const runId = checkRunId(options.runId)
  const log = beginLog(program, runId)
  const begin = { ...options, runId, threadId: threadOf(options) ?? null, log, inputDigest }
  const result = await beginRun(ledger, program, input, begin)
  return sleepThrough(ledger, program, result, options, { input, log })
}

/** Also accepts the options of streams and of `invoke`. */
const checkStartOptions = createOptionCheck<StartOptions>(
  {
    runId: true,
    threadId: true,
    session: true,
    subjects: true,
    tags: true,
    causedBy: true,
    signal: true,
    budget: true,
    onBusy: true,
    listener: true,
    shutdown: true,
    suspendAlways: true,
  },
  ['mode', 'children', 'recursionLimit', 'secrets', 'afterFailure'],
)

export interface BeginOptions extends RunOptions {
  readonly runId: string
  readonly threadId: string | null
  readonly subjects?: readonly string[] | undefined
  readonly causedBy?: ClewEvent | string | undefined
  readonly session?: SessionOptions | undefined
  readonly tags?: StartOptions['tags']
  readonly log?: RunLogBuilder | undefined
  /** Recorded with the start: whether another call asks for the same (W2). */
  readonly inputDigest?: string | undefined
  readonly parent?: Pick<ChildLink, 'parentRunId' | 'parentStepId' | 'cause' | 'earlierRunId'> | undefined
}

/** A new run up to its end or its first long wait. */
export async function beginRun(
  ledger: Ledger,
  program: Program,
  input: unknown,
  options: BeginOptions,
): Promise<RunResult> {
  const { runId, parent, session, log } = options
  assertMode(ledger, 'write')
  if (await ledger.getRun(runId)) throw existingRun(runId)
  if (session?.supersedes !== undefined) {
    // Rejects before anything is written. Only the run that is superseded may be unfinished.
    await findPrevious({ ledger, program, threadId: options.threadId }).catch(unlessOf(session.supersedes))
    await supersedeRun(ledger, session.supersedes, runId)
  }
  const take = await acquireRun(ledger, program, options, options, log)
  try {
    const cause = parent ? (parent.cause ?? null) : await causeOf(ledger, options)
    return await recordStart(take, input, { ...options, cause, budget: options.budget })
  } finally {
    await take.hold.release()
  }
}

/** Undefined: what the code around is caused by, if anything. */
async function causeOf(
  ledger: Ledger,
  { causedBy, session }: Pick<BeginOptions, 'causedBy' | 'session'>,
): Promise<string | undefined> {
  if (causedBy !== undefined) return typeof causedBy === 'string' ? causedBy : causedBy.eventId
  if (session?.triggerMessageId === undefined) return undefined
  return (await findMessageEvent(ledger, session.streamId, session.triggerMessageId))?.eventId
}

const unlessOf =
  (runId: string) =>
  (error: unknown): void => {
    if (!(error instanceof ClewError && error.code === 'unfinished' && error.fields['runId'] === runId))
      throw error
  }
