import {
  checkMemoryPolicy,
  type ClewEvent,
  isOwn,
  type Ledger,
  type MemoryPolicy,
  joinSubmission,
} from '@clew/ledger'
import { checkBudget, checkName } from '../options/check-options.ts'
import { createOptionCheck } from '../options/known-options.ts'
import type { Budget } from '../machine/budget.ts'
import type { Durability } from '../machine/machine-types.ts'
import type { Program } from '../machine/program.ts'
import { mutableCopy } from '../machine/mutable-copy.ts'
import { type MapInput, mapItems, type MapOptions } from '../map/map-items.ts'
import type { MapResult } from '../map/map-result.ts'
import type { RunResult } from './result.ts'
import { resumeRun } from './resume-run.ts'
import type { Run } from './run.ts'
import { checkRunId } from './run-id.ts'
import type { ResumeOptions, StartOptions } from './run-options.ts'
import { startRun } from './start-run.ts'
import { sendSignal, type SentSignal, type SignalOptions } from '../signal/signal.ts'
import type { SignalSchemas } from '../signal/signal-schemas.ts'
import type { RunStream } from '../stream/run-stream.ts'
import type { AgentStreamMode, StreamItem, StreamShape } from '../stream/stream-items.ts'
import { streamRun } from '../stream/stream-run.ts'
import type { TapeOptions } from '../tape/tape-options.ts'
import { useTape } from '../tape/use-tape.ts'
import { retryFunction, type RetryOptions } from '../fork/fork.ts'
import { runOnce, type RunOnceOptions } from '../work/run-once.ts'
import { createRunHandle, readResult, type RunHandle } from '../work/run-handle.ts'
import { submitRun, type SubmitOptions } from '../work/submit-run.ts'
import type { WaitOptions } from '../work/wait-for-run.ts'

export interface AgentOptions {
  /** Recorded with each run; raise it when the code changes. */
  readonly version?: string | undefined
  /** Default: that of the ledger, which is `group` by default. */
  readonly durability?: Durability | undefined
  readonly budget?: Budget | undefined
  /** Every `fetch` in the agent's own code, so every model library, is recorded and given back (D4). */
  readonly recordFetch?: boolean | TapeOptions | undefined
  /** Schemas of the signals that its runs receive: others are refused when they are sent. */
  readonly signals?: SignalSchemas | undefined
  /** Rules by which `run.memory.promote()` copies items into higher layers; default: the ledger's. */
  readonly memory?: Pick<MemoryPolicy, 'promote'> | undefined
}

type Modes = AgentStreamMode | readonly AgentStreamMode[]
type AgentStream<Output, Mode extends Modes, Children extends boolean> = RunStream<
  StreamItem<Mode, Children, never, never>,
  RunResult<Output>
>

/** A durable function: ordinary code that may die anywhere and goes on exactly there. */
export interface Agent<Input = unknown, Output = unknown> {
  readonly name: string
  readonly program: Program
  start(ledger: Ledger, input: Input, options?: StartOptions): Promise<RunResult<Output>>
  /** Leaves the run to a worker that has this agent (W1), and answers as soon as it is recorded. */
  submit(ledger: Ledger, input: Input, options?: SubmitOptions): Promise<RunHandle<RunResult<Output>>>
  /** Starts the run, goes on with it, waits for it, or gives its recorded result, whatever came before (W2). */
  run(ledger: Ledger, input: Input, options: RunOnceOptions): Promise<RunResult<Output>>
  /** The result of a run, whoever works on it; waits until it has ended, asks something or is blocked. */
  result(ledger: Ledger, runId: string, options?: WaitOptions): Promise<RunResult<Output>>
  /** Goes on after a crash, or with the answer to a question. */
  resume(ledger: Ledger, runId: string, options?: ResumeOptions): Promise<RunResult<Output>>
  /** Sends a signal to one of its runs, checked by the schema that it declares. */
  signal(
    ledger: Ledger,
    runId: string,
    name: string,
    payload?: unknown,
    options?: SignalOptions,
  ): Promise<SentSignal>
  /** One run for each item, so many at a time; what each came to, in the order of the items. */
  map(ledger: Ledger, items: MapInput<Input>, options?: MapOptions): Promise<MapResult<Output>>
  /** As `start`, telling what happens; the default mode is `steps`. */
  stream<const Mode extends Modes = 'steps', const Children extends boolean = false>(
    ledger: Ledger,
    input: Input,
    options?: StartOptions & StreamShape<Mode, Children>,
  ): AgentStream<Output, Mode, Children>
  /** As `resume`, telling what happens from there on. */
  streamResume<const Mode extends Modes = 'steps', const Children extends boolean = false>(
    ledger: Ledger,
    runId: string,
    options?: ResumeOptions & StreamShape<Mode, Children>,
  ): AgentStream<Output, Mode, Children>
}

const checkAgentOptions = createOptionCheck<AgentOptions>({
  version: true,
  durability: true,
  budget: true,
  recordFetch: true,
  memory: true,
  signals: true,
})

export function agent<Input, Output>(
  name: string,
  fn: (run: Run, input: Input) => Promise<Output> | Output,
  options: AgentOptions = {},
): Agent<Input, Output> {
  checkName(name, 'The agent')
  checkAgentOptions(options, `Agent ${name}`)
  const { version, durability, budget, recordFetch, memory, signals } = options
  checkBudget(budget, `agent ${name}`)
  const program: Program = {
    kind: 'function',
    name,
    version,
    structureHash: null,
    durability,
    budget,
    promote: checkMemoryPolicy(memory).promote,
    signals,
    tape: useTape(recordFetch),
    async load(ledger, runId) {
      const events: ClewEvent[] = []
      for await (const event of ledger.read(runId, { restored: true })) events.push(event)
      return joinSubmission(events)
    },
    code:
      (machine, { input }) =>
      async () =>
        fn(machine.run, input as Input),
    keptOutput: (output) => output,
    outputOf: readOutput,
  }
  return {
    name,
    program,
    start: (ledger, input, options) =>
      startRun(ledger, program, input, options) as Promise<RunResult<Output>>,
    async submit(ledger, input, options) {
      const runId = await submitRun(ledger, name, input, options)
      return createRunHandle(ledger, runId, program) as RunHandle<RunResult<Output>>
    },
    run(ledger, input, options) {
      const again = (how: RetryOptions) => retryFunction(program, how)
      return runOnce(ledger, program, input, options, again) as Promise<RunResult<Output>>
    },
    result: (ledger, runId, options) =>
      readResult(ledger, runId, program, options) as Promise<RunResult<Output>>,
    resume: (ledger, runId, options) =>
      resumeRun(ledger, program, runId, options) as Promise<RunResult<Output>>,
    stream(ledger, input, options = {}) {
      const runId = checkRunId(options.runId)
      const go = (told: StartOptions) => this.start(ledger, input, { ...options, ...told, runId })
      return streamRun(async () => ({ runId, go }), { mode: 'steps', ...options }, true)
    },
    signal: (ledger, runId, name, payload = null, options = {}) =>
      sendSignal(ledger, runId, { name, payload }, options, signals),
    map: (ledger, items, options) =>
      mapItems({ program, toOutput: (output) => output }, ledger, items, options),
    streamResume(ledger, runId, options = {}) {
      const go = (told: ResumeOptions) => this.resume(ledger, runId, { ...options, ...told })
      return streamRun(async () => ({ runId, go }), { mode: 'steps', ...options }, true)
    },
  }
}

async function readOutput(ledger: Ledger, runId: string): Promise<unknown> {
  for await (const event of ledger.read(runId, { types: ['execution.completed'], restored: true }))
    if (isOwn(event, 'execution.completed')) return mutableCopy(event.payload.output ?? null)
  return null
}
