import type { RunError } from '@clew/ledger'

/** How one try of a node ended, as far as its run got. */
export type NodeStatus = 'completed' | 'failed' | 'paused' | 'stopped' | 'interrupted'

/** R1: one line of a run log, a subset of StepRecord. A try that failed and was tried again has a line of its own. */
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
  /** It was done by an earlier take of this run and only given back: its time was not spent now. */
  readonly restored?: boolean | undefined
}
