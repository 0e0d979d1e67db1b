import {
  ClewError,
  createDeriver,
  DEFAULT_QUEUE,
  type Ledger,
  type PayloadOf,
  type RunSummary,
} from '@clew/ledger'
import { checkBudget, checkName, threadOf } from '../options/check-options.ts'
import { createOptionCheck } from '../options/known-options.ts'
import type { Budget } from '../machine/budget.ts'
import { sha256 } from '../machine/run-appender.ts'
import { assertMode } from '../run/mode.ts'
import { budgetField } from '../run/run-bounds.ts'
import { checkRunId } from '../run/run-id.ts'
import type { SessionOptions, StartOptions } from '../run/run-options.ts'
import { CLEW_VERSION } from '../version.ts'

export interface SubmitOptions
  extends Pick<StartOptions, 'runId' | 'threadId' | 'subjects' | 'tags' | 'causedBy'> {
  /** Not claimed before so many milliseconds have passed. */
  readonly delayMs?: number | undefined
  /** Not claimed before this time. */
  readonly at?: string | Date | undefined
  /** Higher ones are claimed first; default 0. */
  readonly priority?: number | undefined
  /** Default `default`. */
  readonly queue?: string | undefined
  /** Runs of one key take turns with those of others: a tenant, a user. Default: the thread. */
  readonly key?: string | undefined
  /** The run fails if it has not ended so many milliseconds after its submission, waits and child runs included. */
  readonly deadlineMs?: number | undefined
  /** The run id is made of this: one run for all submissions to the agent that name the same. */
  readonly dedupe?: string | undefined
  /** Recorded with the start; default: that of the agent. */
  readonly budget?: Budget | undefined
  readonly session?: SessionOptions | undefined
}

const checkSubmitOptions = createOptionCheck<SubmitOptions>({
  runId: true,
  threadId: true,
  subjects: true,
  tags: true,
  causedBy: true,
  delayMs: true,
  at: true,
  priority: true,
  queue: true,
  key: true,
  deadlineMs: true,
  dedupe: true,
  budget: true,
  session: true,
})

const EVENT = 'system.workflow_submitted'
const MAX_DELAY_MS = 100 * 365 * 86_400_000
const MAX_PRIORITY = 1_000_000

/**
 * Records a run for a worker that has the agent (W1), and returns its id. Submitting the same again under the same id is
 * answered with the run that is there; another input is a conflict.
 */
export async function submitRun(
  ledger: Ledger,
  agent: string,
  input: unknown,
  options: SubmitOptions = {},
): Promise<string> {
  checkSubmitOptions(options, 'This submission')
  checkName(agent, 'The agent')
  checkBudget(options.budget, 'this run')
  assertMode(ledger, 'write')
  const { queue = DEFAULT_QUEUE, key, priority = 0, subjects, tags, session, budget, causedBy } = options
  checkName(queue, 'The queue')
  checkPriority(priority)
  const runId = runIdOf(ledger, agent, options)
  const threadId = threadOf(options)
  const inputDigest = inputDigestOf(ledger, agent, input)
  const payload: PayloadOf<typeof EVENT> = {
    agent,
    ...(threadId !== undefined && { threadId: ledger.identity(threadId).stored }),
    queue,
    ...(key !== undefined && { key: ledger.identity(key).stored }),
    ...(priority !== 0 && { priority }),
    ...timesOf(options, Date.now()),
    ...(subjects && { subjects }),
    ...(tags && { tags }),
    ...(session && { session: { ...session } }),
    ...budgetField(budget),
    clewVersion: CLEW_VERSION,
    ...(input !== undefined && input !== null && { input }),
    inputDigest,
  }
  const event = {
    eventType: EVENT,
    eventId: createDeriver(sha256, runId)(EVENT),
    correlationId: runId,
    ...(causedBy !== undefined && {
      causationId: typeof causedBy === 'string' ? causedBy : causedBy.eventId,
    }),
    source: { origin: 'system', runtime: 'clew' } as const,
    payload,
  }
  try {
    await ledger.append([event], { expectedSeq: 0 })
  } catch (error) {
    // A retry has other times, and a run may have been begun without a submission.
    if (!(error instanceof ClewError) || (error.code !== 'conflict' && error.code !== 'wrong_seq'))
      throw error
    const run = await ledger.getRun(runId)
    if (!run) throw error
    await assertSameTask(ledger, run, agent, inputDigest)
  }
  return runId
}

function runIdOf(ledger: Ledger, agent: string, { runId, dedupe }: SubmitOptions): string {
  if (dedupe === undefined) return checkRunId(runId)
  if (runId !== undefined)
    throw wrongOption('runId', 'A run has its id from `dedupe` or from `runId`', 'Leave one of them out.')
  if (dedupe === '') throw wrongOption('dedupe', 'The key `dedupe` is empty', 'Name what the run is about.')
  return `once-${ledger.keyedDigest(['dedupe', agent, dedupe]).slice(0, 32)}`
}

/** Keyed digest of what a run is asked for, before redaction, so that rules may change between two submissions. */
export const inputDigestOf = (ledger: Ledger, agent: string, input: unknown): string =>
  ledger.keyedDigest([agent, input ?? null]).slice(0, 32)

/** W2: another agent or input under the id of a run is a conflict. */
export async function assertSameTask(
  ledger: Ledger,
  { runId, agent }: RunSummary,
  name: string,
  inputDigest: string,
): Promise<void> {
  if (agent !== null && agent !== name) throw conflict(runId, `is one of ${agent}, not of ${name}`)
  const types = [EVENT, 'system.workflow_started']
  for await (const { payload } of ledger.read(runId, { types, limit: 1 })) {
    const recorded = payload['inputDigest'] ?? inputDigestOf(ledger, name, payload['input'])
    if (recorded !== inputDigest) throw conflict(runId, 'has another input')
  }
}

const conflict = (runId: string, why: string): ClewError =>
  new ClewError(
    'conflict',
    `There is a run ${runId} already, and it ${why}`,
    'Use another run id for another task; nothing was written.',
    { runId },
  )

function timesOf(
  { delayMs, at, deadlineMs }: SubmitOptions,
  nowMs: number,
): { readonly dueAt?: string; readonly deadlineAt?: string } {
  if (delayMs !== undefined && at !== undefined)
    throw wrongOption('at', 'A run starts after `delayMs` or `at` a time', 'Leave one of them out.')
  if (delayMs !== undefined) checkMs('delayMs', delayMs, 0)
  if (deadlineMs !== undefined) checkMs('deadlineMs', deadlineMs, 1)
  const dueMs = at === undefined ? nowMs + (delayMs ?? 0) : new Date(at).getTime()
  if (!Number.isFinite(dueMs) || Math.abs(dueMs) > 8.64e15)
    throw wrongOption('at', 'The time `at` is no time', 'Use a Date, or text such as 2026-12-01T08:00:00Z.')
  return {
    ...(dueMs > nowMs && { dueAt: new Date(dueMs).toISOString() }),
    ...(deadlineMs !== undefined && { deadlineAt: new Date(nowMs + deadlineMs).toISOString() }),
  }
}

function checkMs(option: string, value: number, least: number): void {
  if (Number.isFinite(value) && value >= least && value <= MAX_DELAY_MS) return
  throw wrongOption(option, `The option ${option} is not a number of milliseconds`, `Use ${least} or more.`)
}

function checkPriority(priority: number): void {
  if (Number.isInteger(priority) && Math.abs(priority) <= MAX_PRIORITY) return
  throw wrongOption(
    'priority',
    'The priority is not a whole number',
    `Use one from -${MAX_PRIORITY} to ${MAX_PRIORITY}; higher ones go first.`,
  )
}

const wrongOption = (option: string, message: string, hint: string): ClewError =>
  new ClewError('bad_option', message, `${hint} Nothing was written.`, { option })
