import type { Explanation } from '@clew/ledger'
import type { RunControl } from '../control/run-control.ts'
import type { ReplayFinding } from '../operations/explain.ts'

/** Kinds of steps whose outcome is not that of the agent's own code. */
const OWN_KINDS: ReadonlySet<string> = new Set(['compute', 'node', 'gate'])

export async function replayFinding(
  control: RunControl,
  { run, place }: Explanation,
): Promise<ReplayFinding | null> {
  if (!control.canReplay(run.agent)) return null
  const report = await control.replay(run.runId)
  const [first] = report.divergences
  return {
    verdict: report.verdict,
    reproduced: report.verdict === 'identical',
    outside: place?.because === 'failed' && place.stepId !== null && !OWN_KINDS.has(place.kind),
    divergence: first ? { kind: first.kind, stepId: first.stepId, seq: first.seq } : null,
    outcome: report.outcome,
  }
}
