import type { Explanation } from '@clew/ledger'
import type { ReplayReport } from '@clew/runtime'
import type { RunControl } from '../control/run-control.ts'

/** What going through the run again tells about why it came out as it did. */
export interface ReplayFinding {
  readonly verdict: ReplayReport['verdict']
  /**
   * With the results of the record, today's code comes to the same end: nothing but the record is needed to
   * work on it.
   */
  readonly reproduced: boolean
  /** It failed of what came from outside, which was given back and not asked for again. */
  readonly outside: boolean
  /** Where today's code parts from the record. */
  readonly divergence: {
    readonly kind: ReplayReport['divergences'][number]['kind']
    readonly stepId: string | null
    readonly seq: number | null
  } | null
  readonly outcome: ReplayReport['outcome']
}

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
