import { type ClewEvent, checkpointOf, type Ledger, type RunState, type RunSummary } from '@clew/ledger'
import { type KeptCheckpoint, checkpointLookupOf } from '../checkpointer/checkpoint-lookup.ts'
import type { Task } from '../graph/plan.ts'
import type { ResolvedReplacement } from '../fork/replace-value.ts'
import type { RestoredEnd } from './restored-ends.ts'
import { refit, type AdaptedFork } from './changed-graph.ts'
import { type ResolvedGraphForkPoint, findCut } from './cut.ts'
import { toStanding } from './graph-program.ts'
import type { ForkGraphOptions, GraphParts } from './graph-parts.ts'
import type { SuperstepState } from './supersteps.ts'

/** Base of a fork. */
export interface ForkBase {
  readonly superstep: number
  /** Folds the state. Called only if the fork changes the state or needs the next tasks. */
  readonly standing: () => Promise<SuperstepState>
  readonly checkpointId: string
  readonly seq: number
  readonly cut: ResolvedGraphForkPoint | undefined
  readonly kept: KeptCheckpoint | undefined
  readonly refit: AdaptedFork | undefined
  /** Events of the source after the checkpoint, within the superstep that had begun. */
  readonly after: () => Promise<readonly ClewEvent[]>
  readonly carried?: readonly RestoredEnd[]
  /** The source is shared beyond the checkpoint, up to this value. */
  readonly replacement?: ResolvedReplacement | undefined
  readonly retryIndex?: number
}

export async function groundOf(
  { ledger, ...graph }: GraphParts,
  source: RunSummary,
  { at }: Pick<ForkGraphOptions, 'at'>,
): Promise<ForkBase> {
  const { channels } = graph.definition
  const lookup = checkpointLookupOf(ledger)
  if (lookup) {
    const kept = await lookup.cut(source, at)
    const standing = async (): Promise<SuperstepState> => kept.toStanding(channels, ledger)
    const after = async (): Promise<readonly ClewEvent[]> => kept.events
    const { id: checkpointId, superstep } = kept
    return { superstep, standing, checkpointId, seq: 1, cut: undefined, kept, refit: undefined, after }
  }
  const fitted = await refit(ledger, source, await findCut(ledger, source, at), graph)
  const { event } = fitted.cut
  const seq = event.ledger.seq
  const { next } = checkpointOf(event) ?? {}
  const isSamePlan = fitted.plan === undefined || isPlain(fitted.plan.tasks, next ?? [])
  return {
    superstep: fitted.cut.superstep,
    async standing() {
      const folded = (await ledger.getStateAt(source.runId, seq, { restored: true })) as RunState
      const carrier = await carrierAt(ledger, source.runId, seq)
      return { ...toStanding(channels, carrier ?? event, folded, ledger), ...(isSamePlan ? {} : fitted.plan) }
    },
    checkpointId: checkpointOf(event)?.id ?? event.eventId,
    seq,
    cut: fitted.cut,
    kept: undefined,
    refit: isSamePlan ? { ...fitted, plan: undefined } : fitted,
    after: async () => {
      const events: ClewEvent[] = []
      for await (const each of ledger.read(source.runId, { afterSeq: seq, restored: true })) events.push(each)
      return events
    },
  }
}

/** The event of the checkpoint with its secrets: what was sent to a task stands in it. */
async function carrierAt(ledger: Ledger, runId: string, seq: number): Promise<ClewEvent | undefined> {
  for await (const event of ledger.read(runId, { afterSeq: seq - 1, limit: 1, restored: true })) return event
  return undefined
}

/** The same nodes as the record says, none of them with an input of its own. */
const isPlain = (tasks: readonly Task[], next: readonly string[]): boolean =>
  tasks.length === next.length && tasks.every(({ node, input }, i) => node === next[i] && input === undefined)
