import {
  type ClewEvent,
  isOwn,
  type Ledger,
  type RunStatus,
  type RunSummary,
  readBeginning,
} from '@clew/ledger'
import { type KeptCheckpoint, checkpointLookupOf } from './checkpoint-lookup.ts'
import { readThreadRuns } from './read-checkpoints.ts'

/** One run in the tree of those that belong together. */
export interface LineageRun {
  readonly runId: string
  /** `start` of a thread, next `turn`, `fork`, `retry` of a run that failed, `child` of a step. */
  readonly kind: 'start' | 'turn' | 'fork' | 'retry' | 'child'
  readonly status: RunStatus
  readonly agent: string | null
  readonly startedAt: string
  /** Run that this one continues; null at the root. */
  readonly from: LineageLink | null
}

export interface LineageLink {
  readonly runId: string
  /** Seq of the last event that is continued, if known. */
  readonly seq: number | null
  readonly superstep: number | null
  readonly stepId: string | null
}

export interface Lineage {
  readonly threadId: string | null
  /** Oldest first: each comes after the one that it goes on from. A list, for a thread may have thousands of turns. */
  readonly runs: readonly LineageRun[]
}

/** All runs that belong to the thread of a run: turns, forks, retries, and the child runs of each. */
export async function lineage(ledger: Ledger, runId: string): Promise<Lineage> {
  const root = await rootOf(ledger, runId)
  if (!root) return { threadId: null, runs: [] }
  const { threadId } = root
  const lookup = checkpointLookupOf(ledger)
  if (lookup) return { threadId, runs: await keptLineage(lookup.list(threadId ?? root.runId)) }
  const runs: LineageRun[] = []
  for await (const run of threadId === null
    ? await forksOf(ledger, root)
    : readThreadRuns(ledger, threadId)) {
    runs.push(await toLineageRun(ledger, run))
    await addChildren(ledger, run, runs)
  }
  return { threadId, runs }
}

/** The run itself, or the one that its parents are children of; without a thread, the one it was forked from first. */
async function rootOf(ledger: Ledger, runId: string): Promise<RunSummary | null> {
  let run = await ledger.getRun(runId)
  while (run) {
    const above: string | undefined =
      run.parentRunId ?? (run.threadId === null ? run.forkedFrom?.runId : undefined)
    const next: RunSummary | null = above === undefined ? null : await ledger.getRun(above)
    if (!next) return run
    run = next
  }
  return null
}

/** A run without a thread and all that was forked from it, or from its forks. */
async function forksOf(ledger: Ledger, root: RunSummary): Promise<RunSummary[]> {
  const found = new Map([[root.runId, root]])
  for (let last = [root]; last.length > 0; ) {
    const below = await ledger.findBelow(last.map(({ runId }) => runId))
    last = below.filter(({ runId, forkedFrom }) => forkedFrom !== null && !found.has(runId))
    for (const run of last) found.set(run.runId, run)
  }
  // A source began before its forks.
  return [...found.values()].sort((a, b) =>
    a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : 0,
  )
}

async function toLineageRun(ledger: Ledger, run: RunSummary): Promise<LineageRun> {
  const { runId, status, agent, startedAt, forkedFrom } = run
  const base = { runId, status, agent, startedAt }
  const first = await firstOwn(ledger, run)
  if (forkedFrom) {
    const fork = first && isOwn(first, 'system.workflow_forked') ? first.payload : {}
    const { superstep = null } = fork.checkpoint ?? {}
    const kind = fork.retryOf === undefined ? 'fork' : 'retry'
    return { ...base, kind, from: { ...forkedFrom, superstep, stepId: fork.atStepId ?? null } }
  }
  const previous = first && isOwn(first, 'system.workflow_started') ? first.payload.previous : undefined
  return {
    ...base,
    kind: previous ? 'turn' : 'start',
    from: previous ? { ...previous, superstep: null, stepId: null } : null,
  }
}

/** Lineage read from checkpoints, which lack the child runs of ended steps. */
async function keptLineage(all: AsyncIterable<KeptCheckpoint>): Promise<LineageRun[]> {
  const runs = new Map<string, LineageRun>()
  const runOf = new Map<string, string>()
  for await (const { id, parentId, runId, createdAt, metadata, started } of all) {
    runOf.set(id, runId)
    const { status = 'running' } = metadata as { status?: RunStatus }
    const known = runs.get(runId)
    if (known) {
      runs.set(runId, { ...known, status })
      continue
    }
    const { agent, forkedFrom, retryOf } = started as {
      agent?: string
      forkedFrom?: { runId: string; superstep: number }
      retryOf?: string
    }
    const before = parentId === null ? undefined : runOf.get(parentId)
    const link = forkedFrom ?? (before === undefined ? undefined : { runId: before, superstep: null })
    runs.set(runId, {
      runId,
      kind: retryOf !== undefined ? 'retry' : forkedFrom ? 'fork' : link ? 'turn' : 'start',
      status,
      agent: agent ?? null,
      startedAt: createdAt,
      from: link ? { runId: link.runId, seq: null, superstep: link.superstep, stepId: null } : null,
    })
  }
  return [...runs.values()]
}

async function addChildren(ledger: Ledger, { runId }: RunSummary, runs: LineageRun[]): Promise<void> {
  for (const { childRunId, stepId, superstep } of await ledger.getSkeleton(runId)) {
    const child = childRunId === null ? null : await ledger.getRun(childRunId)
    // A result that a fork restored belongs to a child of the fork's source.
    if (!child || child.parentRunId !== runId) continue
    const { status, agent, startedAt } = child
    const from = { runId, seq: null, superstep, stepId }
    runs.push({ runId: child.runId, kind: 'child', status, agent, startedAt, from })
    await addChildren(ledger, child, runs)
  }
}

async function firstOwn(ledger: Ledger, { runId, forkedFrom }: RunSummary): Promise<ClewEvent | null> {
  return (await readBeginning(ledger, runId, { afterSeq: forkedFrom?.seq ?? 0 })) ?? null
}
