import { ClewError, type Ledger, type RunSummary } from '@clew/ledger'
import type { ReplayMode } from '@clew/runtime'
import type { ReplayRequest, RunControl } from '../control/run-control.ts'
import type { ReplayAnswer, ReplayedRun } from '../operations/replay-schema.ts'
import { parseSince } from '../operations/since.ts'

/** One of many replayed runs: its error is reported beside the others, and the path of an identical one is known. */
export async function replayOne(
  control: RunControl,
  { runId: id, agent }: Pick<RunSummary, 'runId' | 'agent'>,
  request: ReplayRequest,
  file: string | null = null,
): Promise<ReplayedRun> {
  if (request.mode === 'what-if') throw manyLive()
  try {
    const report = await control.replay(id, request)
    const told = report.verdict === 'identical' ? { ...report, path: [] } : report
    return { runId: id, agent, file, report: told, error: null }
  } catch (error) {
    if (!(error instanceof ClewError)) throw error
    return { runId: id, agent, file, report: null, error: error.message }
  }
}

export function summarise(runs: readonly ReplayedRun[], left: ReplayAnswer['left'] = []): ReplayAnswer {
  const having = (verdict: string | undefined): number =>
    runs.filter(({ report }) => report?.verdict === verdict).length
  const identical = having('identical')
  const verdict = identical === runs.length ? 'identical' : 'diverged'
  return {
    verdict,
    identical,
    diverged: having('diverged'),
    failed: having(undefined),
    left,
    runs,
  }
}

interface Choice {
  readonly mode: ReplayMode
  readonly agent?: string | undefined
  readonly since?: string | undefined
  readonly limit?: number | undefined
}

/** The runs of a store that can be replayed, newest first; children are replayed with their parents. */
export async function chooseRuns(
  ledger: Ledger,
  control: RunControl,
  { mode, agent, since, limit = Number.POSITIVE_INFINITY }: Choice,
): Promise<{ runs: RunSummary[]; left: ReplayAnswer['left'] }> {
  const runs: RunSummary[] = []
  const reasons = new Map<string, number>()
  const leaveOut = (reason: string): void => void reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  const from = since === undefined ? undefined : parseSince(since, Date.now())
  let cursor: string | undefined
  do {
    const page = await ledger.listRuns({ agent, since: from, limit: 1000, cursor })
    for (const run of page.runs) {
      if (runs.length >= limit) break
      if (run.parentRunId !== null || run.replay !== null) continue
      if (run.agent === null) leaveOut('of no agent')
      else if (mode !== 'reconstruct' && !control.canReplay(run.agent))
        leaveOut(`of ${run.agent}, which is not here`)
      else if (run.status === 'running') leaveOut('still running')
      else runs.push(run)
    }
    cursor = runs.length >= limit ? undefined : (page.nextCursor ?? undefined)
  } while (cursor !== undefined)
  if (runs.length === 0) throw nothingFits([...reasons.keys()])
  return { runs, left: [...reasons].map(([reason, count]) => ({ reason, runs: count })) }
}

/** A check that checks nothing must not look like one that passed. */
export const nothingFits = (reasons: readonly string[] = []): ClewError =>
  new ClewError(
    'not_found',
    `No run can be replayed${reasons.length > 0 ? `: all matching runs are ${reasons.join('; ')}` : ' here'}`,
    'List the runs with `clew runs`, and name the module that exports their agents with --agent.',
  )

const manyLive = (): ClewError =>
  new ClewError(
    'bad_option',
    'A what-if costs what its run costs, so it is made of one run at a time',
    'Name the run instead of --all.',
    { option: '--all' },
  )
