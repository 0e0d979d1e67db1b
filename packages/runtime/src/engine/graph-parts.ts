import type { Ledger } from '@clew/ledger'
import type { Replacement } from '../fork/replace-value.ts'
import type { Program } from '../machine/program.ts'
import type { RunOptions } from '../run/run-options.ts'
import type { GraphIdentity } from './changed-graph.ts'
import type { ForkPoint } from './cut.ts'
import type { StateEdit } from './edit-state.ts'

export interface ForkGraphOptions extends StateEdit, Pick<RunOptions, 'onBusy' | 'signal'> {
  readonly runId: string
  readonly at?: ForkPoint | undefined
  /** Begins the run again with this input in place of its own. */
  readonly input?: unknown
  readonly replace?: Replacement | undefined
  readonly newRunId?: string | undefined
  /** Default: the thread of the source. */
  readonly threadId?: string | undefined
  readonly by?: string | undefined
  readonly effects?: 'live' | 'ask' | undefined
  /** After an edit conditional edges decide again, unless a step is named that runs next. Default: what the record says runs next. */
  readonly decidesAnew?: boolean | undefined
}

/** A graph with the ledger it works on. */
export interface GraphParts extends GraphIdentity {
  readonly ledger: Ledger
  readonly name: string
  readonly version?: string | undefined
  readonly program: Program
}

export interface ForkedFrom {
  readonly runId: string
  readonly seq: number
  readonly superstep: number
  readonly checkpointId: string | null
}

/** A run that shares the beginning of another and waits to be taken up. */
export interface PendingFork {
  readonly runId: string
  readonly threadId: string | null
  readonly forkedFrom: ForkedFrom
  /** Results of the source that the fork does not reuse, and why. */
  readonly warnings: readonly string[]
}
