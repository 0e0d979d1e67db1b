import type { Ledger } from '@clew/ledger'

export interface RunView {
  readonly runId: string
  readonly [view: string]: unknown
}

/** What people see of each run, oldest first: reconstructing a history gives this, whatever version reads it (D7). */
export async function viewsOf(ledger: Ledger): Promise<RunView[]> {
  const { runs } = await ledger.listRuns({ limit: 1000 })
  const views: RunView[] = []
  for (const { runId } of runs.toReversed()) {
    const steps = await ledger.getSteps(runId)
    const { entries } = await ledger.transcript(runId)
    const { items } = await ledger.timeline(runId)
    views.push({
      runId,
      summary: await ledger.getRun(runId),
      steps,
      transcript: entries,
      timeline: items,
      state: await ledger.getState(runId),
    })
  }
  // As JSON has it, since it is compared with what was written as JSON.
  return parseViews(formatViews(views))
}

export const formatViews = (views: readonly RunView[]): string =>
  views.map((view) => `${JSON.stringify(view)}\n`).join('')

export const parseViews = (text: string): RunView[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RunView)
