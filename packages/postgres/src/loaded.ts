import type { PreparedEvent, RunKey, StepSkeleton, StoredEvent } from '@clew/ledger'
import { indexText } from './index-text.ts'
import type { RunRow } from './run-row.ts'

/** Positions that one transaction id stands for (see "Position" in docs/decisions). */
export const BLOCK = 1024

/** All that `applyChange` may ask for; what is not here does not exist. */
export interface Loaded {
  readonly runs: Map<string, RunRow>
  readonly runsById: Map<number, RunRow>
  /** Leases of runs that do not exist yet. */
  readonly leases: Map<string, { readonly epoch: number; readonly held: boolean }>
  readonly events: Map<string, StoredEvent>
  readonly macs: Map<number, string | null>
  readonly eventsAt: Map<string, StoredEvent>
  readonly steps: Map<string, StepSkeleton>
  readonly scopes: Map<string, number>
  readonly nodes: Map<string, number>
  readonly nodeHashes: Map<number, string>
  /** Among the runs to prune: those that are leased, or whose thread is. */
  readonly leased: Set<number>
  /** Forks of runs that are pruned, or that are expected to have a number of forks. */
  readonly forks: Map<number, { readonly seq: number; readonly isNeedy: boolean }[]>
  /** How many events the ranges to prune have, by `rangeKey`. */
  readonly counts: Map<string, number>
  /** Among the runs to prune or adopt: those with events outside of these ranges. */
  readonly withEvents: Set<number>
  /** First positions of the blocks for the new events. */
  readonly blocks: number[]
  /** Unused ids for scopes and nodes. */
  readonly ids: number[]
}

export const nothingLoaded = (): Loaded => ({
  runs: new Map(),
  runsById: new Map(),
  leases: new Map(),
  events: new Map(),
  macs: new Map(),
  eventsAt: new Map(),
  steps: new Map(),
  scopes: new Map(),
  nodes: new Map(),
  nodeHashes: new Map(),
  leased: new Set(),
  forks: new Map(),
  counts: new Map(),
  withEvents: new Set(),
  blocks: [],
  ids: [],
})

export const runKey = ({ workspace, runId }: RunKey): string => `${workspace}\n${runId}`
export const eventKey = (key: RunKey, eventId: string): string => `${runKey(key)}\n${eventId}`
export const stepKey = (run: number, stepId: string, attempt: number): string => `${run} ${attempt} ${stepId}`
export const seqKey = (run: number, seq: number): string => `${run} ${seq}`
export const rangeKey = (run: number, fromSeq: number, toSeq: number): string => `${run} ${fromSeq} ${toSeq}`
export const nodeKey = (scope: number, hash: string): string => `${scope} ${hash}`
export const scopeKey = (workspace: string, name: string): string => `${workspace}\n${indexText(name)}`

/** Values are shared within a thread, or within a run that has none (L8). */
export const scopeName = (runId: string, threadId: string | null): string =>
  threadId === null ? `run ${runId}` : `thread ${threadId}`

/** An event that a call appends. */
export interface EventOfRun extends RunKey {
  readonly event: PreparedEvent
}

export interface ForkSource extends RunKey {
  readonly seq: number
}

/** Run and seq that an event forks from. */
export function forkSourceOf({ workspace, event }: EventOfRun): ForkSource[] {
  if (event.eventType !== 'system.workflow_forked') return []
  const runId = event.sealed?.forkedFrom?.runId ?? textIn(event, 'sourceRunId')
  const seq = event.sealed?.forkedFrom?.seq ?? event.payload?.['sourceSeq']
  return runId !== undefined && Number.isSafeInteger(seq) ? [{ workspace, runId, seq: seq as number }] : []
}

export const textIn = ({ payload }: PreparedEvent, field: string): string | undefined => {
  const value = payload?.[field]
  return typeof value === 'string' ? value : undefined
}
