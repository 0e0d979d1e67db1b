import { ClewError, type ClewEvent, findMessageEvent, type Ledger, supersedeRun } from '@clew/ledger'
import { runUntilIdle } from './run-until-idle.ts'
import { checkBudget, threadOf } from '../options/check-options.ts'
import { createOptionCheck } from '../options/known-options.ts'
import type { RunLogBuilder } from '../log/run-log.ts'
import { sha256 } from '../machine/run-appender.ts'
import type { Previous, Program } from '../machine/program.ts'
import type { ChildLink } from '../machine/step.ts'
import { assertMode } from './mode.ts'
import type { RunResult } from './result.ts'
import { checkRunId, nextId } from './run-id.ts'
import type { RunOptions, SessionOptions, StartOptions } from './run-options.ts'
import { sleepThrough } from './sleep-through.ts'
import { beginLog, acquireRun } from './acquire-run.ts'
import { budgetField } from './run-bounds.ts'
import { recordedSchemas } from '../signal/signal-schemas.ts'
import { CLEW_VERSION } from '../version.ts'

/** R5: the input is recorded before anything is done with it. */
export async function startRun(
  ledger: Ledger,
  program: Program,
  input: unknown,
  options: StartOptions = {},
): Promise<RunResult> {
  checkStartOptions(options, 'This run')
  checkBudget(options.budget, 'this run')
  const runId = checkRunId(options.runId)
  const log = beginLog(program, runId)
  const begin = { ...options, runId, threadId: threadOf(options) ?? null, log }
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
  readonly parent?: Pick<ChildLink, 'parentRunId' | 'parentStepId' | 'cause' | 'earlierRunId'> | undefined
}

/** A new run up to its end or its first long wait. */
export async function beginRun(
  ledger: Ledger,
  program: Program,
  input: unknown,
  options: BeginOptions,
): Promise<RunResult> {
  const { runId, threadId, parent, subjects, session, tags, log } = options
  const budget = options.budget ?? program.budget
  assertMode(ledger, 'write')
  if (await ledger.getRun(runId)) throw existingRun(runId)
  const findPrevious = async (): Promise<Previous | undefined> =>
    threadId === null ? undefined : program.findPrevious?.(ledger, threadId)
  if (session?.supersedes !== undefined) {
    // Rejects before anything is written. Only the run that is superseded may be unfinished.
    await findPrevious().catch(unlessOf(session.supersedes))
    await supersedeRun(ledger, session.supersedes, runId)
  }
  const take = await acquireRun(ledger, program, options, options, log)
  try {
    const previous = await findPrevious()
    const payload = {
      agent: program.name,
      ...(program.version !== undefined && { agentVersion: program.version }),
      ...(threadId !== null && { threadId: ledger.identity(threadId).stored }),
      ...(parent && { parentRunId: parent.parentRunId, parentStepId: parent.parentStepId }),
      ...(parent?.earlierRunId !== undefined && { earlierRunId: parent.earlierRunId }),
      ...(program.structureHash !== null && { structureHash: program.structureHash }),
      ...(program.signatures && { signatures: program.signatures }),
      clewVersion: CLEW_VERSION,
      ...(subjects && { subjects }),
      ...(session && { session: { ...session } }),
      ...budgetField(budget),
      ...recordedSchemas(program.signals),
      ...(tags && { tags }),
      ...(input !== undefined && input !== null && { input }),
      seed: sha256(runId + nextId()).slice(0, 32),
      ...(previous && { previous: { runId: previous.run.runId, seq: previous.seq } }),
    }
    const { journal } = take
    const begun = journal.draft('system.workflow_started', [], parent?.cause ?? null, payload)
    const started = parent ? begun : { ...begun, causationId: await causeOf(ledger, options) }
    const cause = started.eventId
    const opening = program.open?.({ runId, threadId, input, previous, journal, cause })
    const stored = await ledger
      .append([started, ...(opening?.events ?? [])], { expectedSeq: 0, epoch: take.hold.epoch })
      .catch((error: unknown) => {
        throw error instanceof ClewError && error.code === 'wrong_seq' ? existingRun(runId) : error
      })
    for (const event of stored) options.listener?.event?.(event)
    return await runUntilIdle(take, stored, {
      input,
      bounds: { budget, workedMs: 0 },
      from: opening?.from,
      redactedTexts: opening?.redactedTexts,
    })
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

export const existingRun = (runId: string): ClewError =>
  new ClewError(
    'conflict',
    `There is a run ${runId} already`,
    'Resume it, fork it, or use another run id; nothing was written.',
    { runId },
  )
