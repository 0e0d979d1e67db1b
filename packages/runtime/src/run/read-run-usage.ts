import type { Ledger } from '@clew/ledger'
import type { UsageTotals } from '../machine/budget.ts'

/**
 * Usage of a run and all child runs below it. Children whose step has not ended are left out: they count when they end.
 * Read from summaries, since a resumed graph reads only the events after its last checkpoint.
 */
export async function readRunUsage(ledger: Ledger, runId: string): Promise<UsageTotals> {
  const run = await ledger.getRun(runId)
  let { steps, tokens, cost } = {
    steps: run?.steps ?? 0,
    tokens: (run?.inputTokens ?? 0) + (run?.outputTokens ?? 0),
    cost: run?.cost ?? 0,
  }
  for (const { childRunId, status } of run ? await ledger.getSkeleton(runId) : []) {
    if (childRunId === null || status === 'running' || status === 'paused') continue
    const child = await readRunUsage(ledger, childRunId)
    steps += child.steps
    tokens += child.tokens
    cost += child.cost
  }
  return { steps, tokens, cost }
}
