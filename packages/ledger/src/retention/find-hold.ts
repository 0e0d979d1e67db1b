import { findRun } from '../store/find-runs.ts'
import { isSystemRun } from '../event/system-run.ts'
import { parseMemoryRunId } from '../memory/item.ts'
import type { Store } from '../store/store.ts'
import { type Hold, type Holdable, heldBy } from './holds.ts'

/**
 * Finds the hold that covers a run: one that names it; for a child run, one on its parent; for memory, one on its run or on
 * any run of its thread. `runs` are all that may matter for that.
 */
export function createHoldCheck(
  holds: readonly Hold[],
  runs: Iterable<Holdable>,
): (run: Holdable) => Hold | undefined {
  if (holds.length === 0) return () => undefined
  const byId = new Map<string, Holdable>()
  const byThread = new Map<string, Holdable[]>()
  for (const run of runs) {
    byId.set(run.runId, run)
    if (run.threadId === null || isSystemRun(run.runId)) continue
    const mates = byThread.get(run.threadId)
    if (mates) mates.push(run)
    else byThread.set(run.threadId, [run])
  }
  function ofRun(run: Holdable | undefined): Hold | undefined {
    const seen = new Set<Holdable>()
    for (let each = run; each && !seen.has(each); ) {
      const [hold] = heldBy(holds, each)
      if (hold) return hold
      seen.add(each)
      each = each.parentRunId === null ? undefined : byId.get(each.parentRunId)
    }
    return undefined
  }
  return (run) => {
    const own = ofRun(run)
    const memory = parseMemoryRunId(run.runId)
    if (own || !memory) return own
    if (memory.layer === 'short') return ofRun(byId.get(memory.scope))
    if (memory.layer === 'long') return undefined
    for (const mate of byThread.get(memory.scope) ?? []) {
      const hold = ofRun(mate)
      if (hold) return hold
    }
    return undefined
  }
}

const PAGE = 100

/** The hold that covers a run; reads the runs around it from the store. */
export async function findHold(
  { store, workspace }: { readonly store: Store; readonly workspace: string },
  holds: readonly Hold[],
  run: Holdable,
): Promise<Hold | undefined> {
  if (holds.length === 0) return undefined
  const around = new Map<string, Holdable>()
  async function climb(from: Holdable | undefined): Promise<void> {
    for (let each = from; each && !around.has(each.runId); ) {
      around.set(each.runId, each)
      const runId: string | null = each.parentRunId
      each = runId === null ? undefined : (await findRun(store, { workspace, runId }))?.summary
    }
  }
  await climb(run)
  const memory = parseMemoryRunId(run.runId)
  if (memory?.layer === 'short')
    await climb((await findRun(store, { workspace, runId: memory.scope }))?.summary)
  for (let cursor: string | null | undefined; memory?.layer === 'session' && cursor !== null; ) {
    const options = {
      workspace,
      threadIds: [memory.scope],
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    }
    const page = await store.findRuns(options)
    for (const { summary } of page.runs) await climb(summary)
    cursor = page.next
  }
  return createHoldCheck(holds, around.values())(run)
}
