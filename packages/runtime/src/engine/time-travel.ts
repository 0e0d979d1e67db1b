import { checkForkOptions } from '../fork/fork-options.ts'
import { ClewError, type Ledger, type RunSummary, readBeginning } from '@clew/ledger'
import type { Channels, StateOf, ValueOf, WriteOf } from '../graph/channel.ts'
import type { Replacement } from '../fork/replace-value.ts'
import type { RunResult } from '../run/result.ts'
import type { ResumeOptions, RunOptions } from '../run/run-options.ts'
import { resultOfRun } from '../run/sleep-through.ts'
import { fidelityOf } from '../run/fidelity.ts'
import { beginLog } from '../run/acquire-run.ts'
import type { ForkPoint } from './cut.ts'
import { forkGraph, retryGraph } from './fork-graph.ts'
import type { ForkedFrom, GraphParts, PendingFork } from './graph-parts.ts'
import {
  type CheckpointChoice,
  type CheckpointView,
  type GraphPlace,
  readCheckpoint,
  readHistory,
  readState,
  type StateView,
} from './state-views.ts'
import { type UpdatedState, type UpdateOptions, updateState } from './update-state.ts'
import { waitForRun } from '../work/wait-for-run.ts'

/** Oldest first; read as it is gone through. */
export interface StateHistory<State> extends AsyncIterable<CheckpointView<State>> {
  toArray(): Promise<CheckpointView<State>[]>
}

export interface GraphForkOptions<C extends Channels = Channels> extends RunOptions {
  /** Default: what the graph was compiled with. */
  readonly ledger?: Ledger | undefined
  readonly runId: string
  readonly at?: ForkPoint | undefined
  /**
   * Channels are set to these values. After this or an `update`, conditional edges of the nodes that wrote last decide on the
   * edited state, unless `at` names the step that runs next; `asNode` names another node.
   */
  readonly state?: { readonly [K in keyof C]?: ValueOf<C[K]> | undefined } | undefined
  /** Merged by the rules of the channels. */
  readonly update?: WriteOf<C> | undefined
  readonly asNode?: string | undefined
  /** Begins the run again with this input in place of its own. */
  readonly input?: WriteOf<C> | undefined
  /** Replaces one recorded value of a node: the result of an effect, an answer, or what an effect is performed with. */
  readonly replace?: Replacement | undefined
  readonly newRunId?: string | undefined
  readonly threadId?: string | undefined
  readonly by?: string | undefined
  /** As for `fork` of a function. */
  readonly effects?: 'live' | 'ask' | undefined
  /** `false`: the fork is left pending, to be looked at or gone on with later. */
  readonly run?: boolean | undefined
}

export type GraphRetryOptions<C extends Channels = Channels> = Omit<
  GraphForkOptions<C>,
  'at' | 'input' | 'replace'
>

export type GraphForkResult<State> = RunResult<State> & {
  readonly state: State
  readonly forkedFrom: ForkedFrom
  /** Results of the source that the fork does not reuse, and why. */
  readonly warnings: readonly string[]
}

/** Reads earlier states of a graph's runs and forks from them (R4, R7). */
export interface TimeTravel<C extends Channels = Channels> {
  /** The newest state, or the one that is chosen; null when there is none. Frozen. */
  getState(place: GraphPlace, choice?: CheckpointChoice): Promise<StateView<StateOf<C>> | null>
  /** Checkpoints of all turns and forks of a thread, a tree by `parentId`; or of a run, after those that a fork shares. */
  getStateHistory(place: GraphPlace): StateHistory<StateOf<C>>
  getCheckpoint(checkpointId: string): Promise<CheckpointView<StateOf<C>> | null>
  /** Records a changed state; `invoke(null)` continues from it. */
  updateState(place: GraphPlace, update: WriteOf<C>, options?: UpdateOptions): Promise<UpdatedState>
  /** A new run that shares the first events of another one; the source stays as it is. */
  fork(options: GraphForkOptions<C>): Promise<GraphForkResult<StateOf<C>>>
  /** A failed or stopped run once more from where it failed; what siblings had completed is kept. */
  retry(options: GraphRetryOptions<C>): Promise<GraphForkResult<StateOf<C>>>
}

export interface TravelParts<C extends Channels> {
  /** The graph on its ledger, or on this one. */
  partsOn(ledger: Ledger | undefined): GraphParts
  resume(ledger: Ledger, runId: string, options: ResumeOptions): Promise<RunResult>
  withState(
    ledger: Ledger,
    result: RunResult,
  ): Promise<RunResult<StateOf<C>> & { readonly state: StateOf<C> }>
}

export function createTimeTravel<C extends Channels>({
  partsOn,
  resume,
  withState,
}: TravelParts<C>): TimeTravel<C> {
  const channelsOf = ({ definition }: GraphParts): Channels => definition.channels

  async function goOn(
    parts: GraphParts,
    { runId, forkedFrom, warnings }: PendingFork,
    {
      run: isRun = true,
      signal,
      budget,
      onBusy,
      listener,
      suspendAlways,
    }: GraphForkOptions<C> | GraphRetryOptions<C>,
  ): Promise<GraphForkResult<StateOf<C>>> {
    const { ledger, program } = parts
    const run = (await ledger.getRun(runId)) as RunSummary
    const result =
      isRun && run.status === 'pending'
        ? await resume(ledger, runId, {
            signal,
            replaceBudget: budget,
            onBusy,
            listener,
            suspendAlways,
          }).catch((error: unknown) => resultElsewhere(parts, runId, error, signal))
        : await resultOfRun(ledger, program, run, { log: beginLog(program, runId) })
    const source = await readBeginning(ledger, forkedFrom.runId)
    const fidelity =
      result.fidelity && fidelityOf(source ? [source] : [], program, result.fidelity.models.now)
    return { ...(await withState(ledger, { ...result, fidelity })), forkedFrom, warnings }
  }

  /** A worker that has the graph may take the new run first: then its outcome is the answer. */
  async function resultElsewhere(
    { ledger, program }: GraphParts,
    runId: string,
    error: unknown,
    signal: AbortSignal | undefined,
  ): Promise<RunResult> {
    if (!(error instanceof ClewError) || error.code !== 'busy') throw error
    const leases = await ledger.leases.list()
    const isTaken = leases.some((each) => each.workspace === ledger.workspace && each.runId === runId)
    // Otherwise it is the thread that is busy.
    if (!isTaken && (await ledger.getRun(runId))?.status === 'pending') throw error
    const run = (await waitForRun(ledger, runId, { signal })) as RunSummary
    return resultOfRun(ledger, program, run, { log: beginLog(program, runId) })
  }

  return {
    async getState(place, choice) {
      const parts = partsOn(undefined)
      return (await readState(parts.ledger, channelsOf(parts), place, choice)) as StateView<StateOf<C>> | null
    },
    getStateHistory(place) {
      const read = (): AsyncGenerator<CheckpointView<StateOf<C>>> => {
        const parts = partsOn(undefined)
        return readHistory(parts.ledger, channelsOf(parts), place) as AsyncGenerator<
          CheckpointView<StateOf<C>>
        >
      }
      return { [Symbol.asyncIterator]: read, toArray: () => Array.fromAsync(read()) }
    },
    async getCheckpoint(checkpointId) {
      const parts = partsOn(undefined)
      const found = await readCheckpoint(parts.ledger, channelsOf(parts), checkpointId)
      return found as CheckpointView<StateOf<C>> | null
    },
    async updateState(place, update, options) {
      return updateState(partsOn(undefined), place, update, options)
    },
    async fork(options) {
      checkForkOptions(options, 'This fork')
      const parts = partsOn(options.ledger)
      return goOn(parts, await forkGraph(parts, { ...options, decidesAnew: true }), options)
    },
    async retry(options) {
      checkForkOptions(options, 'This retry')
      const parts = partsOn(options.ledger)
      return goOn(parts, await retryGraph(parts, options), options)
    },
  }
}
