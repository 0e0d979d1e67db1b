import type { Ledger } from '@clew/ledger'
import type { UsageTotals } from './machine/budget.ts'

/**
 * What a run has used up, with its child runs and theirs; of children only those whose step is over, for the others count
 * when they end. By summaries: of a graph only the events since its last checkpoint are at hand.
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
