import type { RunError } from '@clew/ledger'

/** Status of one attempt of a node. */
export type NodeStatus = 'completed' | 'failed' | 'paused' | 'stopped' | 'interrupted'

/** R1: one line of a run log, a subset of StepRecord. Each attempt has its own line. */
export interface NodeRecord {
  readonly nodeName: string
  readonly superstep: number
  readonly durationMs: number
  readonly status: NodeStatus
  readonly error: RunError | null
  /** Its result came from a cache. */
  readonly cached: boolean
  /** Names of the targets that it chose. */
  readonly decision: string | readonly string[] | null
  /** Restored from the record: an earlier process or start of this run did it, so it took no time now. */
  readonly restored?: boolean | undefined
}
