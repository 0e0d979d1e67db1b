import type { Ledger, RunSummary } from '@clew/ledger'
import type { GraphDefinition } from '../graph/definition.ts'
import { type Plan, planNext } from '../graph/plan.ts'
import type { State } from '../graph/merge-writes.ts'
import { endsAt } from './changed-graph.ts'
import type { ResolvedGraphForkPoint } from './cut.ts'
import { idleRun } from './edit-state.ts'
import { decide } from './run-node.ts'

/**
 * Decides again after the state of a superstep was edited: the conditional edges of its nodes are evaluated on the edited
 * state, as if those nodes had written it. Undefined if no edges or a command had decided: then the record is kept.
 */
export async function decideAnew(
  ledger: Ledger,
  source: RunSummary,
  cut: ResolvedGraphForkPoint,
  definition: GraphDefinition,
  state: State,
): Promise<Plan | undefined> {
  const { ended, joins } = await endsAt(ledger, source.runId, cut)
  let hasDecided = false
  const anew = []
  for (const end of ended) {
    const branches = definition.branches.filter(({ from }) => from === end.node)
    const isOwnWay = end.goto !== null || end.ended || branches.length === 0
    const decided = isOwnWay ? null : await decide(branches, state, idleRun())
    if (decided) hasDecided = true
    anew.push(decided ? { ...end, decision: decided.targets, sends: decided.sends } : end)
  }
  return hasDecided ? planNext(definition, anew, joins) : undefined
}
