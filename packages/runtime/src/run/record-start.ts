import { ClewError, type ClewEvent, joinSubmission, type RunSummary } from '@clew/ledger'
import type { Budget } from '../machine/budget.ts'
import type { Previous } from '../machine/program.ts'
import { type EventDraft, sha256 } from '../machine/run-appender.ts'
import type { ChildLink } from '../machine/step.ts'
import { CLEW_VERSION } from '../version.ts'
import type { ActiveRun } from './acquire-run.ts'
import type { RunResult } from './result.ts'
import { budgetField } from './run-bounds.ts'
import { nextId } from './run-id.ts'
import type { SessionOptions, StartOptions } from './run-options.ts'
import { toStepError } from './run.ts'
import { runUntilIdle } from './run-until-idle.ts'
import { resultOfRun } from './sleep-through.ts'
import { recordedSchemas } from '../signal/signal-schemas.ts'

export interface StartFacts {
  /** Id of the event that led to it; undefined: what the code around is caused by. */
  readonly cause: string | null | undefined
  readonly budget: Budget | undefined
  readonly parent?: Pick<ChildLink, 'parentRunId' | 'parentStepId' | 'earlierRunId'> | undefined
  readonly subjects?: readonly string[] | undefined
  readonly session?: SessionOptions | undefined
  readonly tags?: StartOptions['tags']
  readonly inputDigest?: string | undefined
  readonly deadlineAt?: string | undefined
  /** Events of a submitted run: its submission first, which has the input and what else was given. */
  readonly submission?: readonly ClewEvent[] | undefined
}

/** Records the start of a run that this process holds, and runs it to its end or its first long wait. */
export async function recordStart(take: ActiveRun, input: unknown, facts: StartFacts): Promise<RunResult> {
  const { ledger, program, runId, threadId, journal, options } = take
  const { parent, subjects, session, tags, inputDigest, submission } = facts
  const budget = facts.budget ?? program.budget
  const previous = await findPrevious(take)
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
    ...(inputDigest !== undefined && { inputDigest }),
    ...(!submission && input !== undefined && input !== null && { input }),
    seed: sha256(runId + nextId()).slice(0, 32),
    ...(previous && { previous: { runId: previous.run.runId, seq: previous.seq } }),
  }
  const begun = journal.draft('system.workflow_started', [], facts.cause ?? null, payload)
  const started = facts.cause === undefined ? { ...begun, causationId: undefined } : begun
  const seq = (submission?.at(-1)?.ledger.seq ?? 0) + 1
  let opening: ReturnType<NonNullable<typeof program.open>> | undefined
  try {
    opening = program.open?.({ runId, threadId, input, previous, journal, cause: started.eventId, seq })
  } catch (error) {
    // Whoever calls `start` gets the error and no run. A submitted run is there already: it would wait for ever.
    if (!submission) throw error
    return failAtStart(take, started, seq, error)
  }
  const stored = await ledger
    .append([started, ...(opening?.events ?? [])], { expectedSeq: seq - 1, epoch: take.hold.epoch })
    .catch((error: unknown) => {
      throw error instanceof ClewError && error.code === 'wrong_seq' && !submission
        ? existingRun(runId)
        : error
    })
  for (const event of stored) options.listener?.event?.(event)
  const events = submission ? joinSubmission([...submission, ...stored]) : stored
  return runUntilIdle(take, events, {
    input: submission ? undefined : input,
    bounds: { budget, workedMs: 0 },
    deadlineAt: facts.deadlineAt,
    from: opening?.from,
    redactedTexts: opening?.redactedTexts,
  })
}

/** A submitted run whose input its graph does not take. */
async function failAtStart(
  { ledger, program, runId, journal, hold, log }: ActiveRun,
  started: EventDraft,
  seq: number,
  thrown: unknown,
): Promise<RunResult> {
  const error = toStepError(thrown, null).toJSON()
  const failed = journal.draft('system.workflow_failed', [], started.eventId, { error })
  await ledger.append([started, failed], { expectedSeq: seq - 1, epoch: hold.epoch })
  return resultOfRun(ledger, program, (await ledger.getRun(runId)) as RunSummary, { log })
}

export const findPrevious = async ({
  ledger,
  program,
  threadId,
}: Pick<ActiveRun, 'ledger' | 'program' | 'threadId'>): Promise<Previous | undefined> =>
  threadId === null ? undefined : program.findPrevious?.(ledger, threadId)

export const existingRun = (runId: string): ClewError =>
  new ClewError(
    'conflict',
    `There is a run ${runId} already`,
    'Resume it, fork it, or use another run id; nothing was written.',
    { runId },
  )
