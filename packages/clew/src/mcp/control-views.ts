import type { View } from '@clew/mcp'
import type { z } from 'zod'
import type { memoryForget, memoryPut } from '../operations/memory-writes.ts'
import type { preview } from '../operations/preview.ts'
import type { ReplayAnswer } from '../operations/replay-schema.ts'
import type { ControlOutcome } from '../operations/schemas.ts'
import type { RunOutcome } from '../operations/result.ts'
import type { score } from '../operations/score.ts'
import type { signal } from '../operations/signal.ts'
import { changeLine, next, runLine, short } from './text.ts'

export function outcomeView({ run, worked, output, divergence, warnings }: ControlOutcome): View {
  const { runId, forkedFrom } = run
  return {
    head: [
      runLine(run),
      ...(forkedFrom === null ? [] : [`shares ${forkedFrom.seq} events of ${forkedFrom.runId}`]),
      ...(worked ? [] : ['recorded; a worker with its agent goes on with it']),
      ...(output === null || output === undefined ? [] : [`output ${short(output, 600)}`]),
      ...(divergence === null
        ? []
        : [`code and record part at ${divergence.stepId ?? 'its end'}: ${divergence.kind}`]),
      ...warnings.slice(0, 3).map((warning) => `warning: ${warning}`),
    ],
    next: [
      next('explain_run', { runId }, 'how it turned out'),
      ...(forkedFrom === null
        ? []
        : [
            next('diff_runs', { runId: forkedFrom.runId, otherRunId: runId }, 'what the fork does otherwise'),
          ]),
    ],
  }
}

/** What a retried call is answered with, whatever its tool is. */
interface Repeated {
  readonly repeated: true
  readonly run: ControlOutcome['run'] | null
}

export const isRepeated = (output: unknown): output is Repeated =>
  typeof output === 'object' && output !== null && 'repeated' in output

export function repeatedView({ run }: Repeated): View {
  const done = 'done by an earlier call with this idempotency key'
  if (!run) return { head: [done] }
  const { head, next: calls = [] } = outcomeView({
    run,
    worked: true,
    output: null,
    divergence: null,
    warnings: [],
  })
  return { head: [`${done}; this is how the run is now`, ...head], next: calls }
}

export const resultView = ({ run, output }: RunOutcome): View => ({
  head: [runLine(run), ...(output === null || output === undefined ? [] : [`output ${short(output, 600)}`])],
  next: [
    next('get_result', { runId: run.runId, waitMs: 10_000 }, 'its result, once it has ended'),
    next('explain_run', { runId: run.runId }, 'how it turned out'),
  ],
})

export function previewView({
  runId,
  keptSteps,
  nextSteps,
  live,
  outward,
  canRun,
}: z.output<(typeof preview)['output']>): View {
  const named = (effects: typeof live): string =>
    effects.length === 0 ? 'nothing' : effects.map(({ name, count }) => `${short(name)} ×${count}`).join(', ')
  return {
    head: [
      `a fork keeps ${keptSteps} steps of ${runId}; ${nextSteps} steps followed there`,
      `performed again: ${named(live)}`,
      `given back for the same input, else a person is asked: ${named(outward)}`,
      ...(canRun ? [] : ['the code of its agent is not here: a fork waits until it is resumed elsewhere']),
    ],
    next: [next('fork', { runId }, 'makes the fork; needs a reason')],
  }
}

export function replayView({ verdict, runs, left, identical, diverged, failed }: ReplayAnswer): View {
  const report = runs[0]?.report
  const made = report?.runId ?? null
  return {
    head: [
      `${verdict}: ${identical} identical, ${diverged} diverged, ${failed} could not be replayed`,
      ...(report ? [`outcome ${short(report.outcome, 400)}`, `recorded ${short(report.recorded, 400)}`] : []),
      ...(report?.comparison?.first
        ? [
            `parts from its source at ${report.comparison.first.received?.label ?? 'its end'} (${report.comparison.first.kind})`,
            ...report.comparison.first.changes.slice(0, 3).map(changeLine),
          ]
        : []),
      ...left.map(({ reason, runs: count }) => `${count} left out: ${reason}`),
    ],
    lists: [
      {
        what: 'divergences',
        rows: runs.flatMap(({ runId, report: each, error }) => [
          ...(error === null ? [] : [`${runId}: ${error}`]),
          ...(each?.divergences ?? []).map(
            ({ kind, stepId, expected, received }) =>
              `${runId} ${stepId ?? ''} ${kind}: expected ${short(expected)}, received ${short(received)}`,
          ),
        ]),
        more: 0,
        rest: () => null,
      },
    ],
    next: made === null ? [] : [next('get_run', { runId: made }, 'the run that this made')],
  }
}

export function scoreView({ runId, scores }: z.output<(typeof score)['output']>): View {
  return {
    head: [`run ${runId} has ${scores.length} scores`],
    lists: [
      {
        what: 'scores',
        rows: scores.map(
          ({ name, value, by, stepId }) =>
            `${name} ${String(value)} by ${by}${stepId === null ? '' : ` of ${stepId}`}`,
        ),
        more: 0,
        rest: () => ({ tool: 'get_run', input: { runId } }),
      },
    ],
  }
}

export const signalView = ({ runId, name, eventId, seq }: z.output<(typeof signal)['output']>): View => ({
  head: [
    `run ${runId} keeps the signal ${short(name)} as event ${eventId}, seq ${seq}, until its code receives it`,
  ],
  next: [next('get_run', { runId }, 'whether it was received')],
})

export const rememberView = ({
  namespace,
  key,
  version,
  eventId,
}: z.output<(typeof memoryPut)['output']>): View => ({
  head: [`remembered ${namespace} ${key}, version ${version}, event ${eventId}`],
})

export const forgetView = ({ forgotten }: z.output<(typeof memoryForget)['output']>): View => ({
  head: [forgotten === null ? 'there was nothing to forget' : `forgotten, event ${forgotten.eventId}`],
})
