import { ClewError, readBeginning, readInherited, type RunSummary } from '@clew/ledger'
import { checkpointLookupOf } from '../checkpointer/checkpoint-lookup.ts'
import { CLEW_VERSION } from '../version.ts'
import { isEdited } from './edit-state.ts'
import { readPrevious } from './graph-program.ts'
import type { ForkGraphOptions, GraphParts, PendingFork } from './graph-parts.ts'
import { underLease } from './under-lease.ts'

/** Another input from the same beginning: only the first event is shared. */
export async function forkFromInput(
  parts: GraphParts,
  source: RunSummary,
  runId: string,
  options: ForkGraphOptions,
): Promise<PendingFork> {
  const { ledger, program } = parts
  const { at, input } = options
  if (isEdited(options) || (at !== undefined && !('superstep' in at && at.superstep === 0)))
    throw new ClewError(
      'bad_option',
      'An input begins a run anew, so it cannot be combined with a place to fork at or an edit of the state',
      'Leave `at`, `state` and `update` out, or change the state there with `update`; nothing was changed.',
      { runId: source.runId },
    )
  if (checkpointLookupOf(ledger))
    throw new ClewError(
      'bad_option',
      'A checkpointer of your own keeps no events to begin again from',
      'Start a new run with that input, or use a ledger; nothing was changed.',
      { runId: source.runId },
    )
  const threadId = options.threadId ?? source.threadId
  const first = await readBeginning(ledger, source.runId)
  const seq = first?.ledger.seq ?? 1
  const previous = first && (await readPrevious(ledger, parts.definition.channels, first))
  await underLease(parts, runId, threadId, options, async (journal, epoch) => {
    const { structureHash, signatures, version } = parts
    const forked = journal.draft('system.workflow_forked', [], first?.eventId ?? null, {
      sourceRunId: source.runId,
      sourceSeq: seq,
      ...(options.threadId !== undefined && { threadId: options.threadId }),
      ...(version !== undefined && { agentVersion: version }),
      structureHash,
      signatures,
      clewVersion: CLEW_VERSION,
      input,
      ...(options.effects === 'ask' && { effects: options.effects }),
      ...(await readInherited(ledger, source.runId, seq)),
    })
    const opened = program.open?.({ runId, threadId, input, previous, journal, cause: forked.eventId, seq })
    const paused = journal.draft('system.workflow_paused', ['fork'], forked.eventId, {})
    await ledger.append([forked, ...(opened?.events ?? []), paused], { expectedSeq: seq, epoch })
  })
  const forkedFrom = { runId: source.runId, seq, superstep: 0, checkpointId: null }
  return { runId, threadId, forkedFrom, warnings: [] }
}
