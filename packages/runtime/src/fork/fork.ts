import {
  ClewError,
  type ClewEvent,
  type Ledger,
  type PayloadOf,
  readInherited,
  type RunSummary,
  joinSubmission,
} from '@clew/ledger'
import type { Agent } from '../run/agent.ts'
import { runUntilIdle } from '../run/run-until-idle.ts'
import { checkBudget } from '../options/check-options.ts'
import type { CompiledGraph } from '../engine/compiled-graph.ts'
import type { GraphForkOptions, GraphForkResult, GraphRetryOptions } from '../engine/time-travel.ts'
import type { Channels, StateOf } from '../graph/channel.ts'
import { type ResolvedForkPoint, cutBeforeFailure, cutRun } from './cut-run.ts'
import type { ForkPoint } from '../engine/cut.ts'
import type { Program } from '../machine/program.ts'
import { checkForkOptions } from './fork-options.ts'
import { assertNotErased } from './not-erased.ts'
import {
  assertAlone,
  type Replacement,
  resolveReplacement,
  type ResolvedReplacement,
} from './replace-value.ts'
import { assertMode } from '../run/mode.ts'
import type { RunResult } from '../run/result.ts'
import { unknownRun } from '../run/unknown-run.ts'
import type { RunOptions } from '../run/run-options.ts'
import { budgetField, readBounds } from '../run/run-bounds.ts'
import { sleepThrough } from '../run/sleep-through.ts'
import { checkRunId } from '../run/run-id.ts'
import { existingRun } from '../run/record-start.ts'
import { CLEW_VERSION } from '../version.ts'
import { beginLog, acquireRun } from '../run/acquire-run.ts'

export interface ForkOptions<Input = unknown> extends RunOptions {
  readonly ledger: Ledger
  /** Run to fork; it is not changed. */
  readonly runId: string
  readonly at?: ForkPoint | undefined
  /** Replaces the source's input. Recorded results are restored as long as the steps have the same inputs. */
  readonly input?: Input | undefined
  /** Replaces one recorded value: a result, an answer, or what a step is performed with. */
  readonly replace?: Replacement | undefined
  readonly newRunId?: string | undefined
  /**
   * Effects that the shared record does not contain: `live` (default) performs them; with `ask` only models and effects
   * declared `read` are performed, others are given the source's result for the same name and input, or wait for an answer.
   */
  readonly effects?: 'live' | 'ask' | undefined
}

export type RetryOptions = Omit<ForkOptions, 'at' | 'input' | 'replace' | 'effects'>

/** Creates a run that shares the first events of another one and continues on its own (R7). */
export function fork<C extends Channels>(
  graph: CompiledGraph<C>,
  options: GraphForkOptions<C>,
): Promise<GraphForkResult<StateOf<C>>>
export function fork<Input, Output>(
  agent: Agent<Input, Output>,
  options: ForkOptions<Input>,
): Promise<RunResult<Output>>
export async function fork(
  target: Agent<never> | CompiledGraph,
  options: ForkOptions | GraphForkOptions,
): Promise<RunResult> {
  return isGraph(target)
    ? target.fork(options as GraphForkOptions)
    : forkFunction(target.program, options as ForkOptions)
}

/** Known by its shape: who asks may have a Clew of another version. */
const isGraph = (target: object): target is CompiledGraph => 'withCheckpointer' in target

async function forkFunction(program: Program, options: ForkOptions): Promise<RunResult> {
  checkForkOptions(options, 'This fork')
  const { ledger, runId, at, input, replace } = options
  const { source, events } = await readSource(ledger, program, runId)
  if (replace) {
    assertAlone(runId, { at, input })
    const { seq, replaced, drafts } = resolveReplacement(runId, events, replace)
    assertNotErased(runId, events, seq)
    const cut = { seq, atStepId: replaced.stepId }
    return forkRun(ledger, program, { source, cut, fields: { replaced }, drafts }, options)
  }
  const how = { source, cut: cutRun(runId, events, at), input }
  return forkRun(ledger, program, how, options)
}

/** Goes on before the step that the run failed of; without one, where it ended. */
export function retry<C extends Channels>(
  graph: CompiledGraph<C>,
  options: GraphRetryOptions<C>,
): Promise<GraphForkResult<StateOf<C>>>
export function retry<Input, Output>(
  agent: Agent<Input, Output>,
  options: RetryOptions,
): Promise<RunResult<Output>>
export async function retry(
  target: Agent<never> | CompiledGraph,
  options: RetryOptions | GraphRetryOptions,
): Promise<RunResult> {
  return isGraph(target) ? target.retry(options) : retryFunction(target.program, options as RetryOptions)
}

export async function retryFunction(program: Program, options: RetryOptions): Promise<RunResult> {
  checkForkOptions(options, 'This retry')
  const { ledger, runId } = options
  const { source, events } = await readSource(ledger, program, runId)
  if (source.status !== 'failed' && source.status !== 'stopped')
    throw new ClewError(
      'not_resumable',
      `Run ${runId} is ${source.status}: it has not failed`,
      'Resume it, or fork it from a step of your choice; nothing was written.',
      { runId, status: source.status },
    )
  const before = events.findLast(({ eventType }) => eventType === 'system.workflow_forked')?.payload
  const retryIndex = typeof before?.['retryIndex'] === 'number' ? before['retryIndex'] + 1 : 1
  const how = { source, cut: cutBeforeFailure(runId, events), fields: { retryOf: runId, retryIndex } }
  return forkRun(ledger, program, how, options)
}

async function readSource(
  ledger: Ledger,
  program: Program,
  runId: string,
): Promise<{ source: RunSummary; events: ClewEvent[] }> {
  const source = await ledger.getRun(runId)
  if (!source) throw unknownRun(runId)
  if (source.agent !== null && source.agent !== program.name)
    throw new ClewError(
      'not_resumable',
      `Run ${runId} is one of ${source.agent}, not of ${program.name}`,
      'Fork it with its own agent; nothing was written.',
      { runId, agent: source.agent },
    )
  const events: ClewEvent[] = []
  for await (const event of ledger.read(runId)) events.push(event)
  return { source, events: joinSubmission(events) }
}

/** Source and fork point. */
export interface ForkHow {
  readonly source: RunSummary
  readonly cut: ResolvedForkPoint
  readonly input?: unknown
  /** More for `system.workflow_forked`: checkpoint, edit, retryOf. */
  readonly fields?: Partial<PayloadOf<'system.workflow_forked'>> | undefined
  /** Recorded with the fork. */
  readonly drafts?: ResolvedReplacement['drafts'] | undefined
}

/** The part that functions and graphs have in common: one event makes the fork, then it runs like any other. */
async function forkRun(
  ledger: Ledger,
  program: Program,
  { source, cut, input, fields, drafts }: ForkHow,
  options: RunOptions & Pick<ForkOptions, 'newRunId' | 'effects'>,
): Promise<RunResult> {
  assertMode(ledger, 'write')
  checkBudget(options.budget, 'this run')
  const runId = checkRunId(options.newRunId)
  if (await ledger.getRun(runId)) throw existingRun(runId)
  const log = beginLog(program, runId)
  const result = await begin()
  return sleepThrough(ledger, program, result, options, { input, log })

  async function begin(): Promise<RunResult> {
    const take = await acquireRun(ledger, program, { runId, threadId: source.threadId }, options, log)
    try {
      const forked = take.journal.draft('system.workflow_forked', [], null, {
        sourceRunId: source.runId,
        sourceSeq: cut.seq,
        agent: program.name,
        ...(program.version !== undefined && { agentVersion: program.version }),
        ...(program.structureHash !== null && { structureHash: program.structureHash }),
        clewVersion: CLEW_VERSION,
        ...(source.threadId !== null && { threadId: source.threadId }),
        ...(cut.atStepId !== null && { atStepId: cut.atStepId }),
        ...(input !== undefined && { input }),
        ...(options.effects === 'ask' && { effects: options.effects }),
        ...budgetField(options.budget),
        ...(await readInherited(ledger, source.runId, cut.seq)),
        ...fields,
      })
      const stored = await ledger
        .append([forked, ...(drafts?.(take.journal, forked) ?? [])], {
          expectedSeq: cut.seq,
          epoch: take.hold.epoch,
          keepStepIds: true,
        })
        .catch((error: unknown) => {
          throw error instanceof ClewError && error.code === 'wrong_seq' ? existingRun(runId) : error
        })
      for (const event of stored) options.listener?.event?.(event)
      const events = await program.load(ledger, runId)
      return await runUntilIdle(take, events, {
        input,
        bounds: await readBounds(ledger, runId, program.budget),
        madeBefore: events.filter(({ correlationId }) => correlationId !== runId),
        stepsBefore: 0,
      })
    } finally {
      await take.hold.release()
    }
  }
}
