import { ClewError, type ClewEvent, isOwn, type Ledger, type RunSummary } from '@clew/ledger'
import type { Agent } from '../run/agent.ts'
import { fidelityOf } from '../run/fidelity.ts'
import type { Program } from '../machine/program.ts'
import type { Outcome } from '../machine/step.ts'
import { createOptionCheck } from '../options/known-options.ts'
import { assertMode } from '../run/mode.ts'
import { unknownRun } from '../run/unknown-run.ts'
import { StepError } from '../run/run.ts'
import { loadRun } from './load-run.ts'
import { keepReport } from './keep-report.ts'
import { reconstruct } from './reconstruct.ts'
import { isMapOf, replayMap } from './replay-map.ts'
import { assertNotErased } from '../fork/not-erased.ts'
import { type ReplayContext, replayRun, type RunReplay } from './replay-run.ts'
import type { ReplayMode, ReplayOutcome, ReplayReport } from './report.ts'
import { createComparison, type Volatile } from './same-value.ts'
import { createReplayedEvents } from './replayed-events.ts'
import { replayWhatIf, type WhatIfOptions } from './what-if.ts'

/** An agent or a compiled graph. */
export type ReplayTarget = Pick<Agent, 'name' | 'program'>

export interface ReplayProgress {
  /** Ends that the code has been given so far, those of child runs included. */
  readonly done: number
  /** Events of the run that may wake it, about. */
  readonly total: number
  readonly step: string
}

export interface ReplayOptions extends WhatIfOptions {
  readonly ledger: Ledger
  /** Id of the run to replay, which is not changed. */
  readonly runId: string
  /** Default `re-execute`. */
  readonly mode?: ReplayMode | undefined
  /** Paths that may differ: `['input.requestId', 'output.items[*].at']`, or such lists by the name of the step. */
  readonly volatile?: Volatile | undefined
  /** Superstep from which a graph starts, instead of its input. */
  readonly from?: { readonly superstep: number } | undefined
  /** Keeps the report as a run of its own. */
  readonly keep?: boolean | { readonly runId?: string | undefined } | undefined
  /** How long code at rest may be busy with something of its own before a step is missing. Default 1,000. */
  readonly graceMs?: number | undefined
  readonly onProgress?: ((progress: ReplayProgress) => void) | undefined
  /**
   * Told at the end the events of the run, in their order, with what the code gave this time in place of what it gave
   * then: views of a replay are folds of these.
   */
  readonly onEvent?: ((event: ClewEvent) => void) | undefined
}

const checkNames = createOptionCheck<ReplayOptions>({
  ledger: true,
  runId: true,
  mode: true,
  volatile: true,
  from: true,
  keep: true,
  graceMs: true,
  onProgress: true,
  onEvent: true,
  at: true,
  input: true,
  state: true,
  update: true,
  replace: true,
  newRunId: true,
  effects: true,
  signal: true,
  budget: true,
  onBusy: true,
  listener: true,
})

/**
 * Goes through a recorded run again and says where code and record part. But for a what-if nothing is reached, and but
 * for `keep` nothing is written. To reconstruct a run no code is needed.
 */
export async function replay(target: ReplayTarget | null, options: ReplayOptions): Promise<ReplayReport> {
  const { ledger, runId, mode = 're-execute', keep = false } = options
  checkNames(options, 'This replay')
  assertMode(ledger, 'replay')
  const run = await ledger.getRun(runId)
  if (!run) throw unknownRun(runId)
  checkOptions(target, options)
  const began = performance.now()
  const gone = await goThrough(target, run, mode, options)
  const report: ReplayReport = { ...gone, durationMs: performance.now() - began }
  if (keep === false) return report
  const keptId = await keepReport(ledger, run, report, keep === true ? undefined : keep.runId)
  return mode === 'what-if' ? report : { ...report, runId: keptId }
}

async function goThrough(
  target: ReplayTarget | null,
  run: RunSummary,
  mode: ReplayMode,
  options: ReplayOptions,
): Promise<Omit<ReplayReport, 'durationMs'>> {
  const { ledger, runId, from } = options
  const restored = mode !== 'reconstruct'
  const events = options.onEvent
    ? await Array.fromAsync(ledger.read(runId, { restored }))
    : await loadRun(ledger, runId, restored)
  const { shown } = createComparison(ledger)
  const recorded = shownOutcome(await recordedOutcome(ledger, run, events), shown)
  if (mode === 'reconstruct') {
    const path = await reconstruct(ledger, runId, events)
    const fidelity = fidelityOf(events, undefined, [])
    return {
      ...NOTHING,
      fidelity,
      mode,
      sourceRunId: runId,
      path,
      outcome: recorded,
      recorded,
      steps: path.length,
    }
  }
  assertNotErased(runId, events)
  // Checked: only a reconstruction goes without code.
  const { program } = target as ReplayTarget
  if (mode === 'what-if') {
    const gone = await replayWhatIf(target as Agent<never>, ledger, runId, options)
    const fidelity = fidelityOf(events, program, gone.models)
    const { models: _models, ...report } = gone
    return { ...report, outcome: shownOutcome(gone.outcome, shown), recorded, fidelity }
  }
  assertReplayable(run, program, events)
  const context = contextOf(options, events)
  const isMap = isMapOf(program, run.agent)
  const gone = isMap
    ? await replayMap(context, program, events)
    : await replayRun(context, program, events, runId, { fromSuperstep: from?.superstep })
  const { divergences, path, steps } = gone
  if (options.onEvent)
    for await (const event of ledger.read(runId))
      options.onEvent(context.trace?.events.get(event.eventId) ?? event)
  return {
    mode,
    verdict: divergences.length === 0 ? 'identical' : 'diverged',
    sourceRunId: runId,
    runId: null,
    divergences,
    path,
    outcome: isMap ? recorded : shownOutcome(toOutcome(run, gone), shown),
    recorded,
    fidelity: fidelityOf(events, program, []),
    steps,
  }
}

const NOTHING = { verdict: 'identical', runId: null, divergences: [] } as const

function checkOptions(
  target: ReplayTarget | null,
  { mode = 're-execute', from, runId }: ReplayOptions,
): void {
  const refuse = (what: string, hint: string): never => {
    throw new ClewError('bad_option', what, hint, { runId })
  }
  if (target === null && mode !== 'reconstruct')
    refuse(`To ${mode} a run, its agent or graph is needed`, "Hand it in, or use mode: 'reconstruct'.")
  if (from === undefined) return
  if (mode !== 're-execute' || target?.program.kind !== 'graph')
    refuse(
      'Only a graph that is re-executed can begin at a superstep',
      'Leave `from` out; a what-if begins with `at`.',
    )
}

function contextOf(
  { ledger, volatile, graceMs = 1000, onProgress, onEvent }: ReplayOptions,
  events: readonly ClewEvent[],
): ReplayContext {
  const total = events.filter(({ eventType }) =>
    /^execution\.step_(?:completed|failed)$/.test(eventType),
  ).length
  let done = 0
  const onTurn = onProgress ? (step: string) => onProgress({ done: ++done, total, step }) : () => {}
  const comparison = createComparison(ledger, volatile)
  const trace = onEvent && createReplayedEvents(ledger, comparison)
  return { ledger, comparison, graceMs, onTurn, trace }
}

function assertReplayable(run: RunSummary, program: Program, [first]: readonly ClewEvent[]): void {
  const { runId } = run
  if (run.agent !== null && run.agent !== program.name && !isMapOf(program, run.agent))
    throw new ClewError(
      'not_resumable',
      `Run ${runId} is one of ${run.agent}, not of ${program.name}`,
      'Replay it with its own agent or graph.',
      { runId, agent: run.agent },
    )
  if (isMapOf(program, run.agent)) return
  if (!first || !isOwn(first, 'system.workflow_started') || first.payload.seed === undefined)
    throw new ClewError(
      'not_resumable',
      `Run ${runId} was not recorded by an agent or graph of Clew`,
      'Its code cannot be run again from its record; `clew transcript` and `clew timeline` show what it did.',
      { runId },
    )
}

const toOutcome = (run: RunSummary, { outcome, divergences }: RunReplay): ReplayOutcome => {
  if (outcome) return ended(outcome)
  return { status: run.status === 'paused' && divergences.length === 0 ? 'paused' : 'unfinished' }
}

const ended = (outcome: Outcome): ReplayOutcome =>
  'output' in outcome
    ? { status: 'completed', output: outcome.output }
    : { status: 'failed', error: outcome.error.toJSON() }

/** A report is kept and sent: it holds placeholders, whatever the code was given (P3). */
const shownOutcome = (outcome: ReplayOutcome, shown: (value: unknown) => unknown): ReplayOutcome => ({
  ...outcome,
  ...(outcome.output !== undefined && { output: shown(outcome.output) }),
  ...(outcome.error && { error: shown(outcome.error) as typeof outcome.error }),
})

async function recordedOutcome(
  ledger: Ledger,
  { runId, status, error }: RunSummary,
  events: readonly ClewEvent[],
): Promise<ReplayOutcome> {
  if (status === 'failed') return { status, error: new StepError(error ?? {}, null).toJSON() }
  if (status === 'paused') return { status }
  if (status !== 'completed') return { status: 'unfinished' }
  const completed = events.findLast((event) => isOwn(event, 'execution.completed'))
  const output: unknown = completed
    ? (completed.payload.output ?? null)
    : (await ledger.getState(runId))?.state
  return { status, ...(output !== undefined && { output }) }
}
