import { ClewError, type Ledger, type RunSummary } from '@clew/ledger'
import { checkBudget, checkName, checkRecursionLimit, threadOf } from '../options/check-options.ts'
import type { Checkpointer, Retention } from '../checkpointer/checkpoint.ts'
import { createStatePruner } from '../checkpointer/retention.ts'
import { toLedger } from '../checkpointer/to-ledger.ts'
import type { Channels, StateOf, WriteOf } from '../graph/channel.ts'
import type { GraphDefinition } from '../graph/definition.ts'
import { type Drawing, drawData, drawMermaid } from '../graph/draw.ts'
import { restoreState, type State } from '../graph/merge-writes.ts'
import { type GraphStructure, signaturesOf, structureHash, structureOf } from '../graph/structure.ts'
import { assertKnownNodes } from '../graph/validate.ts'
import type { Budget } from '../machine/budget.ts'
import { sha256 } from '../machine/run-appender.ts'
import type { Durability } from '../machine/machine-types.ts'
import type { Program } from '../machine/program.ts'
import { type MapInput, mapItems, type MapOptions } from '../map/map-items.ts'
import type { MapResult } from '../map/map-result.ts'
import type { RunResult } from '../run/result.ts'
import { resumeRun } from '../run/resume-run.ts'
import { runUnrecorded } from '../run/run-unrecorded.ts'
import { checkRunId } from '../run/run-id.ts'
import type { ResumeOptions, StartOptions } from '../run/run-options.ts'
import { startRun } from '../run/start-run.ts'
import type { RunStream } from '../stream/run-stream.ts'
import type { StreamItem, StreamMode, StreamShape } from '../stream/stream-items.ts'
import { streamRun } from '../stream/stream-run.ts'
import type { TapeOptions } from '../tape/tape-options.ts'
import { createOptionCheck } from '../options/known-options.ts'
import { useTape } from '../tape/use-tape.ts'
import { withSecrets } from '../run/with-secrets.ts'
import type { RetryOptions } from '../fork/fork.ts'
import { createRunHandle, readResult, type RunHandle } from '../work/run-handle.ts'
import { runOnce, type RunOnceOptions } from '../work/run-once.ts'
import { submitRun, type SubmitOptions } from '../work/submit-run.ts'
import type { WaitOptions } from '../work/wait-for-run.ts'
import { createGraphProgram, type GraphProgramOptions } from './graph-program.ts'
import { findHead, type GraphPlace } from './state-views.ts'
import type { RunnableGraph } from './sub-runs.ts'
import { createTimeTravel, type TimeTravel } from './time-travel.ts'

export type { GraphPlace } from './state-views.ts'

export interface CompileOptions {
  /** Names its runs; default `graph`. */
  readonly name?: string | undefined
  /** Recorded with each run; raise it when the code of its nodes changes. */
  readonly version?: string | undefined
  /** Stores the runs. Without one, only the result remains. */
  readonly checkpointer?: Ledger | Checkpointer | undefined
  /** States to keep readable; a ledger keeps the events in any case. */
  readonly retention?: Retention | undefined
  readonly interruptBefore?: readonly string[] | undefined
  readonly interruptAfter?: readonly string[] | undefined
  /** Supersteps of one run; more are a failure. Default 1,000. */
  readonly recursionLimit?: number | undefined
  /** Default: that of the ledger, which is `group` by default. */
  readonly durability?: Durability | undefined
  readonly budget?: Budget | undefined
  /** Every `fetch` in its nodes, so every model library, is recorded and given back (D4). */
  readonly recordFetch?: boolean | TapeOptions | undefined
}

const checkCompileOptions = createOptionCheck<CompileOptions>({
  name: true,
  version: true,
  checkpointer: true,
  retention: true,
  interruptBefore: true,
  interruptAfter: true,
  recursionLimit: true,
  durability: true,
  budget: true,
  recordFetch: true,
})

export interface InvokeOptions extends StartOptions, Pick<ResumeOptions, 'secrets'> {
  readonly recursionLimit?: number | undefined
  /** New input is taken although the last run of the thread failed, on the state that it left. Default: refused. */
  readonly afterFailure?: 'continue' | undefined
}

export type GraphResult<State> = RunResult<State> & {
  /** The state where the run ended or waits. */
  readonly state: State
}

type Modes = StreamMode | readonly StreamMode[]
/** Stream of this graph; its items depend on the mode. */
export type GraphStream<C extends Channels, Mode extends Modes, Children extends boolean> = RunStream<
  StreamItem<Mode, Children, StateOf<C>, WriteOf<C>>,
  GraphResult<StateOf<C>>
>

export interface CompiledGraph<C extends Channels = Channels> extends RunnableGraph, TimeTravel<C> {
  readonly channels: C
  /** A new run, or the next turn of a thread; with null, the thread's unfinished run goes on, or one that failed is retried. */
  invoke(input: WriteOf<C> | null, options?: InvokeOptions): Promise<GraphResult<StateOf<C>>>
  resume(place: GraphPlace, options?: ResumeOptions): Promise<GraphResult<StateOf<C>>>
  /** Leaves the run to a worker that has this graph (W1), and answers as soon as it is recorded. */
  submit(input: WriteOf<C>, options?: SubmitOptions): Promise<RunHandle<GraphResult<StateOf<C>>>>
  /** Starts the run, goes on with it, waits for it, or gives its recorded result, whatever came before (W2). */
  run(input: WriteOf<C>, options: RunOnceOptions): Promise<GraphResult<StateOf<C>>>
  /** The result of a run, whoever works on it; waits until it has ended, asks something or is blocked. */
  result(runId: string, options?: WaitOptions): Promise<GraphResult<StateOf<C>>>
  /** As `invoke`, telling what happens; the default mode is `updates`. */
  stream<const Mode extends Modes = 'updates', const Children extends boolean = false>(
    input: WriteOf<C> | null,
    options?: InvokeOptions & StreamShape<Mode, Children>,
  ): GraphStream<C, Mode, Children>
  /** As `resume`, telling what happens from there on. */
  streamResume<const Mode extends Modes = 'updates', const Children extends boolean = false>(
    place: GraphPlace,
    options?: ResumeOptions & StreamShape<Mode, Children>,
  ): GraphStream<C, Mode, Children>
  /** One run for each item, so many at a time; what each came to, in the order of the items. */
  map(items: MapInput<WriteOf<C>>, options?: MapOptions): Promise<MapResult<StateOf<C>>>
  withCheckpointer(checkpointer: Ledger | Checkpointer): CompiledGraph<C>
  /** As Mermaid text. */
  draw(): string
  /** As nodes and edges, for a page. */
  drawing(): Drawing
}

export function compileGraph<C extends Channels>(
  definition: GraphDefinition,
  options: CompileOptions = {},
): CompiledGraph<C> {
  const { name = 'graph', interruptBefore = [], interruptAfter = [], checkpointer, retention } = options
  checkName(name, 'The graph')
  checkCompileOptions(options, `Graph ${name}`)
  checkBudget(options.budget, `graph ${name}`)
  checkRecursionLimit(options.recursionLimit)
  const ledger = checkpointer && toLedger(checkpointer, retention)
  assertKnownNodes(definition, interruptBefore, 'interruptBefore')
  assertKnownNodes(definition, interruptAfter, 'interruptAfter')
  const structure: GraphStructure = structureOf(definition)
  const programOptions: GraphProgramOptions = {
    name,
    version: options.version,
    definition,
    structureHash: structureHash(sha256, structure),
    signatures: signaturesOf(sha256, structure),
    durability: options.durability,
    budget: options.budget,
    tape: useTape(options.recordFetch),
    prune: createStatePruner(retention),
    interruptBefore,
    interruptAfter,
    recursionLimit: options.recursionLimit ?? 1000,
  }
  const programFor = ({
    recursionLimit,
    afterFailure,
  }: Pick<InvokeOptions, 'recursionLimit' | 'afterFailure'> = {}): Program =>
    createGraphProgram(programOptions, { recursionLimit, afterFailure })

  async function headOf(place: GraphPlace): Promise<RunSummary> {
    const run = await findHead(needLedger(ledger), place)
    if (run) return run
    const what = 'runId' in place ? `run ${place.runId}` : `run on thread ${place.threadId}`
    throw new ClewError('not_found', `There is no ${what}`, 'Begin with invoke(input).', { ...place })
  }

  /** P2: secrets of the turns before, whose state the next one goes on from. */
  async function withThreadSecrets(
    kept: Ledger,
    threadId: string | undefined,
    secrets: readonly string[],
  ): Promise<Ledger> {
    if (threadId !== undefined) return withSecrets(kept, (await headOf({ threadId })).runId, secrets)
    throw new ClewError(
      'bad_option',
      'Secrets are put back into the state of a thread, and no thread is named',
      'Name it: invoke(input, { threadId, secrets }); nothing was written.',
      { option: 'secrets' },
    )
  }

  const withState = (result: RunResult): Promise<GraphResult<StateOf<C>>> => withStateOn(ledger, result)

  async function withStateOn(kept: Ledger | undefined, result: RunResult): Promise<GraphResult<StateOf<C>>> {
    // A completed run has pruned already.
    if (kept && result.status !== 'completed') await programOptions.prune?.(kept, result.runId)
    const state =
      result.status === 'completed'
        ? result.output
        : kept
          ? (await kept.getState(result.runId))?.state
          : undefined
    const whole = restoreState(definition.channels, (state ?? {}) as State) as StateOf<C>
    return result.status === 'completed'
      ? { ...result, output: whole, state: whole }
      : { ...result, state: whole }
  }

  /** Invokes without a ledger. The result has the state also if the run did not complete. */
  async function invokeFreely(
    input: unknown,
    invokeOptions: InvokeOptions,
  ): Promise<GraphResult<StateOf<C>>> {
    const { listener } = invokeOptions
    let state: State = {}
    const values = (now: State, superstep: number): void => {
      state = now
      listener?.values?.(now, superstep)
    }
    const listening = { ...invokeOptions, listener: { ...listener, values } }
    const result = await runUnrecorded(programFor(invokeOptions), input, listening)
    const ended = await withState(result)
    return ended.status === 'completed'
      ? ended
      : { ...ended, state: restoreState(definition.channels, state) as StateOf<C> }
  }

  const program = programFor()
  const travel = createTimeTravel<C>({
    partsOn: (other) => ({ ...programOptions, program, ledger: other ?? needLedger(ledger) }),
    resume: (kept, runId, resumeOptions) => resumeRun(kept, program, runId, resumeOptions),
    withState: withStateOn,
  })

  const resume: CompiledGraph<C>['resume'] = async (place, resumeOptions = {}) => {
    const { runId } = await headOf(place)
    return withState(await resumeRun(needLedger(ledger), programFor(), runId, resumeOptions))
  }

  /** Continues a thread: retries a failed run from its failure, resumes any other, or throws why it cannot. */
  async function goOn(
    place: { readonly threadId: string },
    goOnOptions: InvokeOptions,
  ): Promise<GraphResult<StateOf<C>>> {
    const { runId, status } = await headOf(place)
    if (status !== 'failed') return resume(place, goOnOptions)
    const { runId: newRunId, signal, budget, onBusy, listener, suspendAlways } = goOnOptions
    return travel.retry({ runId, newRunId, signal, budget, onBusy, listener, suspendAlways })
  }

  return {
    ...travel,
    kind: 'graph',
    name,
    structure,
    channels: definition.channels as C,
    program,
    async invoke(input, invokeOptions = {}) {
      checkRecursionLimit(invokeOptions.recursionLimit)
      const threadId = threadOf(invokeOptions)
      if ((input ?? null) === null) assertGoesOn(ledger, threadId)
      if (!ledger) return invokeFreely(input, invokeOptions)
      if (input === null && threadId !== undefined) return goOn({ threadId }, invokeOptions)
      const { secrets = [] } = invokeOptions
      const known = secrets.length === 0 ? ledger : await withThreadSecrets(ledger, threadId, secrets)
      return withState(await startRun(known, programFor(invokeOptions), input, invokeOptions))
    },
    resume,
    async submit(input, submitOptions) {
      const kept = needLedger(ledger)
      const runId = await submitRun(kept, name, input, submitOptions)
      const result = async (wait?: WaitOptions) => withState(await readResult(kept, runId, program, wait))
      return { ...createRunHandle(kept, runId, program), result }
    },
    async run(input, onceOptions) {
      const again = (how: RetryOptions) => travel.retry(how)
      return withState(await runOnce(needLedger(ledger), program, input, onceOptions, again))
    },
    result: async (runId, wait) => withState(await readResult(needLedger(ledger), runId, program, wait)),
    stream(input, streamOptions = {}) {
      const threadId = threadOf(streamOptions)
      if (ledger && input === null && threadId !== undefined) {
        const open = async () => {
          const head = await headOf({ threadId })
          // A failed run is retried as a run of its own.
          const runId = head.status === 'failed' ? checkRunId(streamOptions.runId) : head.runId
          const go = (told: InvokeOptions): Promise<GraphResult<StateOf<C>>> =>
            goOn({ threadId }, { ...streamOptions, ...told, runId })
          return { runId, go }
        }
        return streamRun(open, streamOptions, true)
      }
      const runId = checkRunId(streamOptions.runId)
      const go = (told: InvokeOptions): Promise<GraphResult<StateOf<C>>> =>
        this.invoke(input, { ...streamOptions, ...told, runId })
      return streamRun(async () => ({ runId, go }), streamOptions, ledger !== undefined)
    },
    streamResume(place, streamOptions = {}) {
      const open = async () => {
        const { runId } = await headOf(place)
        const go = (told: ResumeOptions): Promise<GraphResult<StateOf<C>>> =>
          this.resume({ runId }, { ...streamOptions, ...told })
        return { runId, go }
      }
      return streamRun(open, streamOptions, true)
    },
    map(items, mapOptions) {
      const toOutput = (output: unknown): State => restoreState(definition.channels, (output ?? {}) as State)
      return mapItems({ program: programFor(), toOutput }, ledger, items, mapOptions)
    },
    withCheckpointer: (checkpointer) => compileGraph(definition, { ...options, checkpointer }),
    draw: () => drawMermaid(structure),
    drawing: () => drawData(structure),
  }
}

/** Without input nothing new begins: there must be a run to go on with. */
function assertGoesOn(ledger: Ledger | undefined, threadId: string | undefined): void {
  needLedger(ledger)
  if (threadId === undefined)
    throw new ClewError(
      'bad_option',
      'invoke(null) goes on with the unfinished run of a thread, and no thread is named',
      'Name it: invoke(null, { threadId }); to begin with nothing written, invoke({}).',
    )
}

function needLedger(ledger: Ledger | undefined): Ledger {
  if (ledger) return ledger
  throw new ClewError(
    'bad_option',
    'This graph keeps nothing that could be resumed or looked at',
    'Compile it with a checkpointer: a ledger, or new MemorySaver().',
  )
}
