import { ClewError, noSuperstep, type RunSummary } from '@clew/ledger'
import type { ForkPoint } from '../engine/cut.ts'
import type { Checkpoint, Checkpointer } from './checkpoint.ts'
import { readKept } from './kept-checkpoint.ts'
import type { CheckpointLookup, KeptCheckpoint } from './checkpoint-lookup.ts'

const NODE_OF_STEP = /^([^/@#]*)@s(\d+)(?:\.i\d+)?(?:\/|$)/

export function createCheckpointLookup(
  checkpointer: Checkpointer,
  know: CheckpointLookup['know'],
): CheckpointLookup {
  async function* list(threadId: string): AsyncGenerator<KeptCheckpoint> {
    for await (const checkpoint of await checkpointer.list({ threadId })) yield readKept(checkpoint)
  }

  /** A run's checkpoints, newest first, with those of the prefix that it was forked from. */
  async function lineOf(run: RunSummary): Promise<Checkpoint[]> {
    const byId = new Map<string, Checkpoint>()
    let newest: Checkpoint | undefined
    for await (const checkpoint of await checkpointer.list({ threadId: threadOf(run) })) {
      byId.set(checkpoint.id, checkpoint)
      if (checkpoint.runId === run.runId) newest = checkpoint
    }
    const line: Checkpoint[] = []
    for (let at = newest; at; at = at.parentId === null ? undefined : byId.get(at.parentId)) {
      line.push(at)
      if (at.superstep === 0) break
    }
    return line
  }

  async function find(
    run: RunSummary,
    {
      checkpointId,
      superstep = Number.POSITIVE_INFINITY,
    }: { checkpointId?: string | undefined; superstep?: number | undefined },
  ): Promise<KeptCheckpoint | null> {
    if (checkpointId !== undefined) {
      const found = await checkpointer.get({ threadId: threadOf(run), checkpointId })
      return found?.id === checkpointId ? readKept(found) : null
    }
    const line = await lineOf(run)
    const last = line[0]?.superstep ?? 0
    if (line.length > 0 && superstep > last && superstep !== Number.POSITIVE_INFINITY)
      throw noSuperstep(run.runId, superstep, last)
    const found = line.find((each) => each.superstep <= superstep)
    return found ? readKept(found) : null
  }

  return {
    find,
    list,
    know,
    async cut(run, at) {
      const found = await cutAt(run, at)
      if (found) return found
      throw new ClewError(
        'not_found',
        `Run ${run.runId} has no checkpoint there`,
        'See getStateHistory for those that are kept; nothing was changed.',
        { runId: run.runId },
      )
    },
  }

  async function cutAt(run: RunSummary, at: ForkPoint | undefined): Promise<KeptCheckpoint | null> {
    if (at === undefined || 'checkpointId' in at) return find(run, at ?? {})
    const line = await lineOf(run)
    if ('seq' in at)
      throw new ClewError(
        'bad_option',
        'A checkpointer of your own keeps no events, so there is no seq to fork at',
        'Fork at a superstep, step or checkpointId; nothing was changed.',
      )
    const named = 'step' in at ? NODE_OF_STEP.exec(at.step) : null
    const found =
      'superstep' in at
        ? line.find(({ superstep }) => superstep === at.superstep)
        : named
          ? line.find(
              ({ superstep, next }) =>
                superstep === Number(named[2]) - 1 && next.includes(named[1] as string),
            )
          : line.findLast(({ next }) => next.includes(at.step))
    return found ? readKept(found) : null
  }
}

const threadOf = ({ threadId, runId }: RunSummary): string => threadId ?? runId
