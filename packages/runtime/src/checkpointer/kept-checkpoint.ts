import { type ClewEvent, deepFreeze, type JsonObject } from '@clew/ledger'
import { openState } from '../engine/graph-state.ts'
import type { Joins, Task } from '../graph/plan.ts'
import type { Checkpoint } from './checkpoint.ts'
import { type BaseDump, type EventDump, fromJson, type RunDump, toJson } from './dump-run.ts'
import type { KeptCheckpoint } from './checkpoint-lookup.ts'

/** Checkpoint to put: the run, and the running child runs of its superstep. */
export function toCheckpoint(
  threadId: string,
  root: RunDump & { readonly base: BaseDump },
  children: readonly RunDump[],
  marks: { readonly put: string; readonly status: string },
): Checkpoint {
  const { base, runId, ...run } = root
  const { checkpointId, parentId, superstep, next, state, createdAt, versions, standing } = base
  return {
    id: checkpointId,
    parentId,
    threadId,
    runId,
    superstep,
    state: toJson(state) as JsonObject,
    next,
    createdAt,
    metadata: toJson({ clew: 1, ...marks, versions, standing, ...run, children }) as JsonObject,
  }
}

/** Restores a checkpoint. One that was not put by Clew has only its state, and continues at `next`. */
export function readKept(checkpoint: Checkpoint): KeptCheckpoint & { readonly dumps: readonly RunDump[] } {
  const { id, parentId, threadId, runId, superstep, next, createdAt } = checkpoint
  const state = deepFreeze(fromJson(checkpoint.state) as Checkpoint['state'])
  const metadata = fromJson(checkpoint.metadata ?? {}) as Partial<Omit<RunDump, 'runId' | 'base'>> & {
    readonly versions?: Readonly<Record<string, number>>
    readonly standing?: Readonly<Record<string, unknown>>
    readonly children?: readonly RunDump[]
  }
  const { versions = {}, standing = {}, children = [], epoch = 0 } = metadata
  const started = metadata.started ?? foreignStart(checkpoint)
  const events = metadata.events ?? foreignRest(checkpoint)
  const base: BaseDump = { checkpointId: id, parentId, createdAt, superstep, next, state, versions, standing }
  return {
    ...checkpoint,
    state,
    versions,
    started: started.payload,
    events: events as unknown as readonly ClewEvent[],
    dumps: [{ runId, started, base, events, epoch }, ...children],
    toStanding(channels, ledger) {
      const tasks = (standing['tasks'] as Omit<Task, 'index'>[] | undefined) ?? next.map((node) => ({ node }))
      const folded = { state, versions, superstep, next, createdAt, checkpointId: id }
      return {
        superstep,
        graph: openState(channels, folded, ledger),
        tasks: tasks.map((task, index) => ({ ...task, index })),
        joins: (standing['joins'] ?? {}) as Joins,
        baseSeq: 1,
        depth: 0,
        passed: (standing['passed'] ?? []) as string[],
        after: (standing['after'] ?? []) as string[],
      }
    },
  }

  function foreignStart({ createdAt: timestamp }: Checkpoint): EventDump {
    const source = { origin: 'system', runtime: 'custom' } as const
    return {
      eventType: 'system.workflow_started',
      eventId: '',
      timestamp,
      source,
      causationId: null,
      payload: { threadId },
    }
  }

  function foreignRest({ createdAt: timestamp }: Checkpoint): EventDump[] {
    const source = { origin: 'system', runtime: 'custom' } as const
    const eventType = next.length > 0 ? 'system.workflow_paused' : 'system.workflow_completed'
    return [{ eventType, eventId: '', timestamp, source, causationId: null, payload: {} }]
  }
}
