import type { Ledger, RunSummary } from '@clew/ledger'
import { openRunAppender } from '../machine/run-appender.ts'
import { assertMode } from '../run/mode.ts'
import { checkRunId } from '../run/run-id.ts'
import { existingRun } from '../run/record-start.ts'
import type { ReplayReport } from './report.ts'

/** Values as they differ can be as large as a run: what is kept says where they differ. */
const MAX_KEPT = 20

/** Writes the report as a run of its own, linked to its source, which gets no event. Gives the id of that run. */
export async function keepReport(
  ledger: Ledger,
  source: RunSummary,
  report: ReplayReport,
  givenId: string | undefined,
): Promise<string> {
  assertMode(ledger, 'write')
  const runId = checkRunId(givenId)
  if (await ledger.getRun(runId)) throw existingRun(runId)
  const { draft } = openRunAppender({ ledger, runId, epoch: 0, onStale: () => {} })
  const { mode, verdict, divergences, outcome, steps, durationMs } = report
  const started = draft('system.replay_started', [], null, {
    sourceRunId: source.runId,
    sourceAgent: source.agent,
    sourceSeq: (source.forkedFrom?.seq ?? 0) + source.events,
    mode,
  })
  const completed = draft('system.replay_completed', [], started.eventId, {
    verdict,
    at: divergences[0]?.stepId ?? null,
    divergences: divergences.slice(0, MAX_KEPT).map(({ kind, step, stepId, seq, changes, childRunId }) => ({
      kind,
      step,
      stepId,
      seq,
      changes,
      ...(childRunId !== undefined && { childRunId }),
    })),
    outcome: { status: outcome.status, ...(outcome.error && { error: outcome.error }) },
    steps,
    durationMs: Math.round(durationMs),
  })
  await ledger.append([started, completed], { expectedSeq: 0 })
  return runId
}
