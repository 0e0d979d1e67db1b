import type { ClewEvent, Ledger, RunSummary } from '@clew/ledger'
import type {
  AnswerOptions,
  ForkPreview,
  PreviewForkOptions,
  Replacement,
  ReplayMode,
  ReplayProgress,
  ReplayReport,
  ResumeOptions,
  RunResult,
  PauseOptions,
  StopOptions,
} from '@clew/runtime'
import type { ControlOutcome } from '../operations/schemas.ts'

/** An agent or a compiled graph of a user's module that can run or resume a run. */
export interface Runnable {
  readonly name: string
  readonly kind: 'function' | 'graph'
  resume(ledger: Ledger, runId: string, options: ResumeOptions): Promise<RunResult>
  fork(
    ledger: Ledger,
    runId: string,
    request: ForkRequest & Pick<ResumeOptions, 'listener'>,
  ): Promise<RunResult & { readonly warnings?: readonly string[] }>
  replay(
    ledger: Ledger,
    runId: string,
    request: ReplayRequest & Pick<ResumeOptions, 'listener'>,
  ): Promise<ReplayReport>
}

/** The agents that can be run here, by the name that their runs carry. */
export interface AgentSet {
  readonly names: readonly string[]
  /** The agent of this run, or an error that lists the known ones. */
  of(run: Pick<RunSummary, 'runId' | 'agent'>): Runnable
}

export interface Watching {
  /** Called with each event of the run and its child runs, in order, once it is committed. */
  readonly onEvent?: ((event: ClewEvent) => void) | undefined
  /** False: only until it is under way; what becomes of it is in the record. */
  readonly wait?: boolean | undefined
}

/** Before a step, which runs again; after a superstep; after an event. */
export type ForkAt = { readonly step: string } | { readonly superstep: number } | { readonly seq: number }

export interface ForkRequest {
  /** Default: where the source stands. */
  readonly at?: ForkAt | undefined
  readonly input?: unknown
  /** Channels of a graph that are set to other values there. */
  readonly state?: Readonly<Record<string, unknown>> | undefined
  /** One recorded value that the fork has otherwise; takes neither place, input nor state. */
  readonly replace?: Replacement | undefined
  /** Default `ask`: only models and effects declared `read` are performed unasked. A retry performs what it had not. */
  readonly effects?: 'ask' | 'live' | undefined
  /** Before what it failed of, with what siblings had completed kept; takes neither place nor edit. */
  readonly retry?: boolean | undefined
  readonly newRunId?: string | undefined
}

export interface ReplayRequest {
  /** Default *re-execute*. */
  readonly mode?: ReplayMode | undefined
  /** Point at which a what-if becomes live: before a step, after a superstep, after an event. */
  readonly at?: ForkAt | undefined
  /** Input of a what-if in place of the recorded one, or state values from that point on. */
  readonly input?: unknown
  readonly state?: Readonly<Record<string, unknown>> | undefined
  /** Of a what-if; `RunControl` sets it to `ask`. */
  readonly effects?: 'ask' | 'live' | undefined
  /** Paths that may differ: `input.requestId`, `output.items[*].at`. */
  readonly volatile?: readonly string[] | undefined
  /** Keep the report as a run of its own. */
  readonly keep?: boolean | undefined
  readonly onProgress?: ((progress: ReplayProgress) => void) | undefined
}

export interface ResumeRequest extends AnswerOptions, Watching, Pick<ResumeOptions, 'secrets'> {}

export interface ControlledPreview extends ForkPreview {
  readonly agent: string | null
  /** False if the agent's code is not here: a fork then waits until it is resumed. */
  readonly canRun: boolean
}

/** How a run stands after it was touched. */
/** All that CLI, server and MCP can do to runs; reading them needs none of it. */
export interface RunControl {
  /** Whether `resume` and `fork` can go on with runs of this agent here. */
  canRun(agent: string | null): boolean
  /** Goes on until the run ends or waits again. */
  resume(runId: string, request?: ResumeRequest): Promise<ControlOutcome>
  /** A new run from a place in this one; it goes on here if its agent is here, and else waits to be resumed. */
  fork(runId: string, request?: ForkRequest & Watching): Promise<ControlOutcome>
  /** What a fork would keep and do; writes nothing. */
  preview(runId: string, request?: PreviewForkOptions): Promise<ControlledPreview>
  /** Whether runs of this agent, and maps over it, can be re-executed here. */
  canReplay(agent: string | null): boolean
  /** Goes through a run again from its record (D1); only a what-if, or a report that is to be kept, writes anything. */
  replay(runId: string, request?: ReplayRequest & Pick<Watching, 'onEvent'>): Promise<ReplayReport>
  /** Only records answers, which needs no agent. */
  answer(runId: string, request: AnswerOptions): Promise<ControlOutcome>
  /** Holds the run until it is resumed, or has its owner let go of it; see `run.status` for whether it has. */
  pause(runId: string, request?: PauseOptions): Promise<ControlOutcome>
  /** Ends the run, or has its owner end it; see `run.status` for whether it has. */
  stop(runId: string, request?: StopOptions): Promise<ControlOutcome>
}
