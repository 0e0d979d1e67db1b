import type { Ledger, RunDiff } from '@clew/ledger'
import type { Agent } from '../run/agent.ts'
import type { ForkPoint } from '../engine/cut.ts'
import { fork } from '../fork/fork.ts'
import type { Replacement } from '../fork/replace-value.ts'
import type { RunResult } from '../run/result.ts'
import type { RunOptions } from '../run/run-options.ts'
import type { ReplayDivergence, ReplayOutcome, ReplayReport } from './report.ts'

/** Change and fork point of a what-if: up to that point recorded results are returned, from there on everything is live. */
export interface WhatIfOptions extends Pick<RunOptions, 'signal' | 'budget' | 'onBusy' | 'listener'> {
  /** Default: where the source stands, or its beginning when an input is given. */
  readonly at?: ForkPoint | undefined
  readonly input?: unknown
  /** For graphs: channels are set to these values. */
  readonly state?: Readonly<Record<string, unknown>> | undefined
  /** For graphs: merged by the rules of the channels. */
  readonly update?: Readonly<Record<string, unknown>> | undefined
  /** Replaces one recorded value: a result, an answer, or what a step is performed with. */
  readonly replace?: Replacement | undefined
  readonly newRunId?: string | undefined
  /** As for `fork`: `live` (default), or `ask` before anything reaches outside. */
  readonly effects?: 'live' | 'ask' | undefined
}

/** A fork, compared with its source by the fold that compares any two runs (V10). */
export async function replayWhatIf(
  target: Agent<never>,
  ledger: Ledger,
  sourceRunId: string,
  { at, input, state, update, replace, newRunId, effects, signal, budget, onBusy, listener }: WhatIfOptions,
): Promise<
  Omit<ReplayReport, 'durationMs' | 'recorded' | 'fidelity'> & { readonly models: readonly string[] }
> {
  const options = {
    ledger,
    runId: sourceRunId,
    signal,
    budget,
    onBusy,
    listener,
    ...(at !== undefined && { at: at as never }),
    ...(input !== undefined && { input: input as never }),
    ...(state !== undefined && { state }),
    ...(update !== undefined && { update }),
    ...(replace !== undefined && { replace }),
    ...(newRunId !== undefined && { newRunId }),
    ...(effects !== undefined && { effects }),
  }
  const result: RunResult = await fork(target, options)
  const comparison = await ledger.diff(sourceRunId, result.runId)
  return {
    mode: 'what-if',
    verdict: comparison.same ? 'identical' : 'diverged',
    sourceRunId,
    runId: result.runId,
    divergences: toDivergences(comparison),
    path: comparison.rows.map(toPathStep),
    outcome: outcomeOf(result),
    comparison,
    steps: comparison.rows.length,
    models: result.fidelity?.models.now ?? [],
  }
}

function toDivergences({ first, output, state }: RunDiff): ReplayDivergence[] {
  if (first) {
    const { kind, expected, received, changes } = first
    const place = expected ?? received
    return [
      {
        kind,
        step: place?.name ?? null,
        stepId: place?.stepId ?? null,
        seq: expected?.seq ?? null,
        expected: expected?.label ?? null,
        received: received?.label ?? null,
        changes,
      },
    ]
  }
  const changes = [...output, ...state]
  if (changes.length === 0) return []
  return [{ kind: 'output', step: null, stepId: null, seq: null, expected: null, received: null, changes }]
}

function toPathStep({ mark, a, b }: RunDiff['rows'][number]): ReplayReport['path'][number] {
  const item = a ?? b
  return {
    step: item?.name ?? '',
    stepId: item?.stepId ?? '',
    kind: item?.kind ?? '',
    decision: null,
    match: !a ? 'new' : !b ? 'missing' : mark === 'same' ? 'same' : 'changed',
    seq: a?.seq ?? null,
  }
}

function outcomeOf({ status, output, error }: RunResult): ReplayOutcome {
  if (status === 'completed') return { status, output }
  if (status === 'failed') return { status, error: error?.toJSON() }
  return { status: status === 'paused' ? 'paused' : 'unfinished' }
}
