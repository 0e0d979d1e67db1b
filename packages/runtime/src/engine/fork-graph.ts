import { ClewError, type ClewEvent, isOwn, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import { checkpointLookupOf } from '../checkpointer/checkpoint-lookup.ts'
import type { EventDraft } from '../machine/run-appender.ts'
import { assertNotErased } from '../fork/not-erased.ts'
import { assertAlone, type Replacement, resolveReplacement } from '../fork/replace-value.ts'
import { assertMode } from '../run/mode.ts'
import { checkRunId } from '../run/run-id.ts'
import { carryEnds, completedTasks } from './restored-ends.ts'
import { decideAnew } from './decide-anew.ts'
import { type EditedStanding, editStanding, isEdited } from './edit-state.ts'
import { restDrafts, sharedSeqOf, startFork, startKept } from './fork-drafts.ts'
import { forkFromInput } from './fork-from-input.ts'
import { type ForkBase, groundOf } from './fork-base.ts'
import type { ForkGraphOptions, GraphParts, PendingFork } from './graph-parts.ts'
import type { SuperstepState } from './supersteps.ts'
import { underLease } from './under-lease.ts'

/** Writes the fork: two events, and one more for an edit, however long the source is. The source is not touched. */
export async function forkGraph(parts: GraphParts, options: ForkGraphOptions): Promise<PendingFork> {
  const source = await readSource(parts, options)
  const runId = checkRunId(options.newRunId)
  if (options.replace) return forkReplacing(parts, source, runId, options, options.replace)
  if (options.input !== undefined) return forkFromInput(parts, source, runId, options)
  return writeFork(parts, source, runId, await groundOf(parts, source, options), options)
}

/** Shares the source up to the replaced value, which may stand within a superstep, and begins with the checkpoint before it. */
async function forkReplacing(
  parts: GraphParts,
  source: RunSummary,
  runId: string,
  options: ForkGraphOptions,
  replace: Replacement,
): Promise<PendingFork> {
  const { ledger } = parts
  const { at, input, state, update, asNode } = options
  assertAlone(source.runId, { at, input, state, update, asNode })
  if (checkpointLookupOf(ledger))
    throw new ClewError(
      'bad_option',
      'A checkpointer of your own keeps no events of which one could be replaced',
      'Fork with another state, or use a ledger; nothing was changed.',
      { runId: source.runId },
    )
  const events = await Array.fromAsync(ledger.read(source.runId))
  const replacement = resolveReplacement(source.runId, events, replace)
  assertNotErased(source.runId, events, replacement.seq)
  const ground = await groundOf(parts, source, { at: { seq: replacement.seq } })
  return writeFork(parts, source, runId, { ...ground, replacement }, options)
}

/**
 * Retries a failed run: a fork at the checkpoint before the superstep that failed, which keeps the results of completed
 * sibling tasks.
 */
export async function retryGraph(
  parts: GraphParts,
  options: Omit<ForkGraphOptions, 'at' | 'input'>,
): Promise<PendingFork> {
  const source = await readSource(parts, options)
  if (source.status !== 'failed' && source.status !== 'stopped' && source.status !== 'blocked')
    throw new ClewError(
      'not_resumable',
      `Run ${source.runId} is ${source.status}: there is nothing to try again`,
      isTerminal(source.status) ? 'Fork it from the step that should run again.' : 'Resume it.',
      { runId: source.runId, status: source.status },
    )
  const ground = await groundOf(parts, source, {})
  const carried = ground.refit?.plan ? [] : completedTasks(await ground.after(), await ground.standing())
  const begun = await firstOwnEvent(parts.ledger, source)
  const earlier = begun && isOwn(begun, 'system.workflow_forked') ? begun.payload.retryIndex : undefined
  const retryIndex = (earlier ?? 0) + 1
  return writeFork(parts, source, checkRunId(options.newRunId), { ...ground, carried, retryIndex }, options)
}

async function readSource(
  { ledger, name }: GraphParts,
  { runId, threadId }: Pick<ForkGraphOptions, 'runId' | 'threadId'>,
): Promise<RunSummary> {
  assertMode(ledger, 'write')
  if (threadId !== undefined) checkpointLookupOf(ledger)?.know(runId, threadId)
  const run = await ledger.getRun(runId)
  if (!run)
    throw new ClewError('not_found', `There is no run ${runId}`, 'See `clew runs` for those there are.', {
      runId,
    })
  if (run.agent !== null && run.agent !== name)
    throw new ClewError(
      'bad_option',
      `Run ${runId} is one of ${run.agent}, not of ${name}`,
      'Fork it with its own graph; nothing was changed.',
      { runId, agent: run.agent },
    )
  return run
}

async function writeFork(
  parts: GraphParts,
  source: RunSummary,
  runId: string,
  ground: ForkBase,
  options: ForkGraphOptions | Omit<ForkGraphOptions, 'at' | 'input'>,
): Promise<PendingFork> {
  const { ledger, definition } = parts
  const threadId = options.threadId ?? source.threadId
  const isChanged = isEdited(options) || ground.refit?.plan !== undefined
  const carries = ground.carried !== undefined && ground.carried.length > 0
  const standing = isChanged || carries || ground.kept ? await ground.standing() : undefined
  const kept =
    standing && isChanged ? await editStanding(definition, standing, options, { ledger }) : undefined
  const edited = kept && (await followEdit(parts, source, ground, kept, options))
  const to = edited?.standing ?? standing
  await underLease(parts, runId, threadId, options, async (journal, epoch) => {
    const begun = ground.kept
      ? startKept(journal, parts, { ...ground, kept: ground.kept }, to as SuperstepState, edited, {
          threadId,
          by: options.by,
        })
      : await startFork(journal, parts, source, ground, edited, options)
    const last = begun.at(-1) as EventDraft
    const replaced = ground.replacement?.drafts(journal, last) ?? []
    const carried = to && carries ? carryEnds(journal, ground.carried ?? [], to, last.eventId) : []
    const expectedSeq = ground.kept ? 0 : sharedSeqOf(ground)
    const rest = restDrafts(journal, edited?.standing, last.eventId)
    await ledger.append([...begun, ...replaced, ...carried, ...rest], {
      expectedSeq,
      epoch,
      keepStepIds: true,
    })
  })
  const { checkpointId, seq } = ground
  return {
    runId,
    threadId,
    forkedFrom: { runId: source.runId, seq, superstep: ground.superstep, checkpointId },
    warnings: ground.refit?.warnings ?? [],
  }
}

/** An edit may change what comes next. */
async function followEdit(
  { ledger, definition }: GraphParts,
  source: RunSummary,
  { cut, refit }: ForkBase,
  edited: EditedStanding,
  options: ForkGraphOptions,
): Promise<EditedStanding> {
  const { at, asNode, state, update, decidesAnew } = options
  const isNamed = asNode !== undefined || (at !== undefined && 'step' in at)
  const isOwn = state !== undefined || update !== undefined
  if (!decidesAnew || isNamed || !isOwn || !cut || refit?.plan) return edited
  const plan = await decideAnew(ledger, source, cut, definition, edited.standing.graph.state)
  return plan ? { ...edited, standing: { ...edited.standing, tasks: plan.tasks, joins: plan.joins } } : edited
}

async function firstOwnEvent(
  ledger: Ledger,
  { runId, forkedFrom }: RunSummary,
): Promise<ClewEvent | undefined> {
  for await (const event of ledger.read(runId, { afterSeq: forkedFrom?.seq ?? 0, limit: 1 })) return event
  return undefined
}
