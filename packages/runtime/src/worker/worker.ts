import type { Ledger, RunStatus } from '@clew/ledger'
import type { RunResult } from '../run/result.ts'
import type { ResumeOptions } from '../run/run-options.ts'

/** Interface through which a worker resumes runs; agents implement it. */
export interface WorkerAgent {
  /** Agent name in the runs. */
  readonly name: string
  resume(ledger: Ledger, runId: string, options: ResumeOptions): Promise<RunResult>
}

/** A graph is one too. */
export interface WorkerGraph {
  readonly name: string
  withCheckpointer(ledger: Ledger): {
    resume(place: { readonly runId: string }, options: ResumeOptions): Promise<RunResult>
  }
}

export interface WorkerOptions {
  readonly ledger: Ledger
  readonly agents: readonly (WorkerAgent | WorkerGraph)[]
  /** Runs at a time. Default 4. */
  readonly concurrency?: number | undefined
  /** Time for steps in flight when the worker is stopped. Default 10,000. */
  readonly graceMs?: number | undefined
  /** Polling interval for runs whose owner died and for missed notifications. Default 15,000. */
  readonly sweepMs?: number | undefined
  /** A run is blocked after this many deaths of its process without progress. Default 5. */
  readonly maxCrashes?: number | undefined
  /** Called with each notice, for logs. If it throws, the worker ends. */
  readonly onNotice?: ((notice: WorkerNotice) => void) | undefined
}

interface OfRun {
  readonly runId: string
  readonly agent: string
}

/** Notice of a worker. */
export type WorkerNotice =
  /** `why`: status of the run. */
  | ({ readonly type: 'taken'; readonly why: RunStatus } & OfRun)
  | ({
      readonly type: 'ended'
      readonly status: RunStatus
      readonly ms: number
      /** When it goes on by itself. */
      readonly dueAt: string | null
      readonly error: string | null
    } & OfRun)
  /** The run could not be resumed here and is not tried again before `untilMs`. */
  | ({ readonly type: 'postponed'; readonly error: string; readonly untilMs: number } & OfRun)
  /** Its process died too often without progress. */
  | ({ readonly type: 'blocked'; readonly crashes: number } & OfRun)
  /** Runs whose owner was found dead or silent. */
  | { readonly type: 'swept'; readonly runIds: readonly string[] }
  /** The store did not answer; it is asked again. */
  | { readonly type: 'failed'; readonly error: string }

export interface Worker {
  /** Runs in hand. */
  readonly working: number
  /** Resolves as soon as nothing is in hand and nothing that it could take now is left. */
  idle(): Promise<void>
  /** Takes nothing more and hands over what it has in hand, within the grace. */
  stop(): Promise<void>
  /** Settles when it has been stopped or its ledger is closed. */
  readonly ended: Promise<void>
}
