import { checkpointOf, readInherited, type RunSummary } from '@clew/ledger'
import type { KeptCheckpoint } from '../checkpointer/checkpoint-lookup.ts'
import type { EventDraft, RunAppender } from '../machine/run-appender.ts'
import { CLEW_VERSION } from '../version.ts'
import type { ResolvedGraphForkPoint } from './cut.ts'
import type { EditedStanding } from './edit-state.ts'
import type { ForkBase } from './fork-base.ts'
import type { ForkGraphOptions, GraphParts } from './graph-parts.ts'
import { checkpointFields, type SuperstepState } from './supersteps.ts'

/** Number of events that source and fork share. */
export const sharedSeqOf = ({ replacement, seq }: ForkBase): number => replacement?.seq ?? seq

export async function startFork(
  journal: RunAppender,
  parts: GraphParts,
  source: RunSummary,
  ground: ForkBase,
  edited: EditedStanding | undefined,
  { threadId, by, asNode, effects }: Pick<ForkGraphOptions, 'threadId' | 'by' | 'asNode' | 'effects'>,
): Promise<EventDraft[]> {
  const cut = ground.cut as ResolvedGraphForkPoint
  const checkpoint = checkpointOf(cut.event)
  const { structureHash, signatures, version } = parts
  const forked = journal.draft('system.workflow_forked', [], cut.event.eventId, {
    sourceRunId: source.runId,
    sourceSeq: sharedSeqOf(ground),
    ...(threadId !== undefined && { threadId }),
    ...(cut.atStepId !== undefined && { atStepId: cut.atStepId }),
    ...(version !== undefined && { agentVersion: version }),
    structureHash,
    signatures,
    clewVersion: CLEW_VERSION,
    ...(by !== undefined && { by }),
    ...(effects === 'ask' && { effects }),
    ...(ground.retryIndex !== undefined && { retryOf: source.runId, retryIndex: ground.retryIndex }),
    ...(ground.refit && ground.refit.warnings.length > 0 && { warnings: ground.refit.warnings }),
    checkpoint: {
      id: ground.checkpointId,
      superstep: ground.superstep,
      seq: ground.seq,
      baseSeq: checkpoint?.baseSeq ?? 1,
      createdAt: cut.event.timestamp,
    },
    ...(ground.replacement && { replaced: ground.replacement.replaced }),
    ...(await readInherited(parts.ledger, source.runId, sharedSeqOf(ground))),
  })
  return edited ? [forked, editDraft(journal, edited, forked.eventId, { by, asNode })] : [forked]
}

/** A checkpointer keeps no events to share: the fork begins with the whole state of the checkpoint. */
export function startKept(
  journal: RunAppender,
  { structureHash, signatures, name, version }: GraphParts,
  { kept, retryIndex }: ForkBase & { readonly kept: KeptCheckpoint },
  standing: SuperstepState,
  edited: EditedStanding | undefined,
  { threadId, by }: { readonly threadId: string | null; readonly by: string | undefined },
): EventDraft[] {
  const { seed, input } = kept.started
  const started = journal.draft('system.workflow_started', [], null, {
    agent: name,
    ...(version !== undefined && { agentVersion: version }),
    ...(threadId !== null && { threadId }),
    structureHash,
    signatures,
    clewVersion: CLEW_VERSION,
    seed,
    ...(input !== undefined && { input }),
    forkedFrom: { runId: kept.runId, checkpointId: kept.id, superstep: kept.superstep },
    ...(retryIndex !== undefined && { retryOf: kept.runId, retryIndex }),
  })
  const checkpoint = journal.draft('execution.checkpoint', ['edit', standing.superstep], started.eventId, {
    ...checkpointFields({ ...standing, depth: 0 }, standing, edited?.operations ?? [], true),
    parentId: kept.id,
    ...(by !== undefined && { by }),
  })
  return [started, checkpoint]
}

/** Pauses the fork until it is resumed, or completes it if the edit leaves nothing to run. */
export function restDrafts(
  journal: RunAppender,
  edited: SuperstepState | undefined,
  cause: string,
): EventDraft[] {
  if (!edited || edited.tasks.length > 0)
    return [journal.draft('system.workflow_paused', ['edit', edited?.superstep ?? 0], cause, {})]
  return [journal.draft('system.workflow_completed', [], cause, {})]
}

export function editDraft(
  journal: RunAppender,
  { standing, operations, decision }: EditedStanding,
  cause: string,
  fields: { readonly by?: string | undefined; readonly asNode?: string | undefined },
): EventDraft {
  const { by, asNode } = fields
  return journal.draft('execution.checkpoint', ['edit', standing.superstep], cause, {
    ...checkpointFields(standing, standing, operations, false),
    ...(by !== undefined && { by }),
    ...(asNode !== undefined && { asNode }),
    ...(decision !== null && { decision }),
  })
}
