import { type Ledger, RUN_STATUSES, type RunSummary } from '@clew/ledger'
import { z } from 'zod'

export const runTreeRow = z.object({
  runId: z.string(),
  relation: z.enum(['root', 'child', 'fork']),
  depth: z.int().min(0),
  status: z.enum(RUN_STATUSES),
  agent: z.string().nullable(),
  startedAt: z.string(),
  durationMs: z.number().nullable(),
  /** How many events a fork shares with its source. */
  sharedEvents: z.int().nullable(),
})
export type RunTreeRow = z.output<typeof runTreeRow>

/** Child runs and forks of these runs, and theirs, by the run they come from, newest first. */
export async function readBelow(
  ledger: Ledger,
  roots: readonly RunSummary[],
): Promise<Map<string, RunSummary[]>> {
  const below = new Map<string, RunSummary[]>()
  const seen = new Set(roots.map(({ runId }) => runId))
  for (let last = [...seen]; last.length > 0; ) {
    const found = (await ledger.findBelow(last)).toReversed()
    const asked = new Set(last)
    for (const run of found)
      for (const above of new Set([run.parentRunId, run.forkedFrom?.runId])) {
        if (typeof above !== 'string' || !asked.has(above)) continue
        const list = below.get(above)
        if (list) list.push(run)
        else below.set(above, [run])
      }
    last = found.map(({ runId }) => runId).filter((runId) => !seen.has(runId))
    for (const runId of last) seen.add(runId)
  }
  return below
}

/** A run with its child runs and forks, and theirs, depth first; each run once, whatever their records say. */
export async function readRunTree(ledger: Ledger, root: RunSummary): Promise<RunTreeRow[]> {
  const below = await readBelow(ledger, [root])
  const rows: RunTreeRow[] = []
  const seen = new Set<string>()
  const stack = [{ run: root, relation: 'root' as RunTreeRow['relation'], depth: 0 }]
  for (let at = stack.pop(); at; at = stack.pop()) {
    const { run, relation, depth } = at
    if (seen.has(run.runId)) continue
    seen.add(run.runId)
    const { runId, status, agent, startedAt, durationMs, forkedFrom } = run
    const sharedEvents = relation === 'fork' ? (forkedFrom?.seq ?? null) : null
    rows.push({ runId, relation, depth, status, agent, startedAt, durationMs, sharedEvents })
    // Listed newest first and taken from the end: the oldest comes first.
    for (const next of below.get(runId) ?? []) {
      const how = next.forkedFrom?.runId === runId ? 'fork' : 'child'
      stack.push({ run: next, relation: how, depth: depth + 1 })
    }
  }
  return rows
}
