import { isSystemRun } from '../event/system-run.ts'
import type { EventPlace, RetentionFacts, RunFacts, SeqRange } from './facts.ts'
import { createHoldCheck } from './find-hold.ts'
import { selectRuns } from './match.ts'
import type { RetentionPolicy } from './policy.ts'

/** A range that goes. */
export interface PlannedRange extends SeqRange {
  readonly runId: string
  /** Seq of the run. */
  readonly seq: number
  readonly hash: string
  /** The run that owns what it was forked from. */
  readonly source: string | null
  /** The run goes with it. */
  readonly deletes: boolean
  readonly rule: string
}

/** Something that a rule names and that stays all the same. */
export interface KeptRun {
  readonly runId: string
  readonly rule: string
  readonly reason: string
}

export interface RetentionPlan {
  readonly ranges: readonly PlannedRange[]
  readonly kept: readonly KeptRun[]
  /** Kept runs whose dependencies the facts lack: gather these, and plan again. */
  readonly lacking: readonly string[]
}

const WHOLE = Number.MAX_SAFE_INTEGER
export const LEFT_OVER = 'left over from a deleted run'

/**
 * P4: which ranges of which runs may go, and why the others stay. Pure. What stays keeps all that it stands on: the
 * beginning that a fork shares, the child runs of a run, the turns whose state the newest one of a thread goes on from.
 */
export function planRetention(policy: RetentionPolicy, facts: RetentionFacts): RetentionPlan {
  const selected = selectRuns(policy, facts)
  const byId = new Map(facts.runs.map((run) => [run.runId, run]))
  for (const run of facts.runs) if (run.left) selected.set(run.runId, LEFT_OVER)
  const partly = new Map<string, [string, readonly SeqRange[]][]>()
  for (const [rule, runs] of facts.parts)
    for (const [runId, ranges] of runs) partly.set(runId, [...(partly.get(runId) ?? []), [rule, ranges]])

  /** Up to which seq a run must stay, and why. */
  const pins = new Map<string, { readonly seq: number; readonly reason: string }>()
  const open: string[] = []
  function pin(runId: string, upToSeq: number, reason: string): void {
    const run = byId.get(runId)
    if (!run) return
    // If the end of a run stays, nothing of it is deleted, and so the run is not deleted.
    const seq = upToSeq >= run.seq ? WHOLE : upToSeq
    if ((pins.get(runId)?.seq ?? 0) >= seq) return
    pins.set(runId, { seq, reason })
    open.push(runId)
  }

  const barriers = createBarriers(facts)
  for (const run of facts.runs) {
    const barrier = barriers(run)
    if (barrier !== undefined) pin(run.runId, WHOLE, barrier)
    else if (!selected.has(run.runId)) pin(run.runId, WHOLE, 'no rule takes it')
  }

  const children = groupBy(facts.runs, (run) => run.parentRunId)
  const threads = groupBy(
    facts.runs.filter(({ runId }) => !isSystemRun(runId)),
    (run) => run.threadId,
  )
  const lacking = new Set<string>()
  for (let runId = open.pop(); runId !== undefined; runId = open.pop()) {
    const run = byId.get(runId) as RunFacts
    const { seq } = pins.get(runId) as { seq: number }
    if (run.forkOf) pin(run.forkOf.runId, run.forkOf.seq, `fork ${runId} shares its beginning`)
    for (const child of children.get(runId) ?? []) pin(child.runId, WHOLE, `run ${runId} is its parent`)
    if (run.threadId === null || isSystemRun(runId)) continue
    const mates = threads.get(run.threadId) ?? []
    // If the newest run of a thread were deleted, the next turn would continue from an older state.
    const newest = mates.findLast(({ status }) => status !== 'deleted')
    if (newest && seq === WHOLE)
      pin(newest.runId, WHOLE, `the next turn of thread ${run.threadId} goes on from it`)
    const places = facts.standsOn.get(runId)
    if (places) for (const place of places) pinState(place, runId)
    else if (mates.some((mate) => mate.runId !== runId && selected.has(mate.runId))) lacking.add(runId)
  }
  function pinState({ runId, seq }: EventPlace, by: string): void {
    pin(runId, seq, `the state of run ${by} goes on from it`)
  }

  const ranges: PlannedRange[] = []
  const kept: KeptRun[] = []
  const forks = groupBy(facts.runs, (run) => run.forkOf?.runId ?? null)
  for (const run of facts.runs) {
    const { runId, seq, hash } = run
    const source = run.forkOf?.runId ?? null
    const rule = selected.get(runId)
    const pinned = pins.get(runId)
    const firstSeq = (run.forkOf?.seq ?? 0) + 1
    if (rule !== undefined) {
      const left = run.left ?? [{ fromSeq: firstSeq, toSeq: seq }]
      const free = left.flatMap((range) => behind(range, pinned?.seq ?? 0))
      const deletes = !isSystemRun(runId)
      for (const range of free) ranges.push({ ...range, runId, seq, hash, source, deletes, rule })
      if (pinned && free.length === 0) kept.push({ runId, rule, reason: pinned.reason })
    } else if (partly.has(runId)) {
      const barrier = barriers(run)
      const shared = Math.max(0, ...(forks.get(runId) ?? []).map((fork) => fork.forkOf?.seq ?? 0))
      for (const [name, parts] of partly.get(runId) ?? [])
        if (barrier !== undefined) kept.push({ runId, rule: name, reason: barrier })
        else
          for (const range of parts)
            if (range.fromSeq > shared)
              ranges.push({ ...range, runId, seq, hash, source, deletes: false, rule: name })
    }
  }
  return { ranges: withoutOverlap(ranges), kept, lacking: [...lacking] }
}

/** Finds the reason that keeps a whole run, whatever rules say. */
function createBarriers({
  runs,
  leases,
  holds,
  heldWithin,
  behind: late,
}: RetentionFacts): (run: RunFacts) => string | undefined {
  const heldRuns = new Set(leases.map(({ runId }) => runId))
  const heldThreads = new Set(leases.flatMap(({ threadId }) => (threadId === null ? [] : [threadId])))
  const holdOn = createHoldCheck(holds, runs)
  return (run) => {
    if (heldRuns.has(run.runId) || (run.threadId !== null && heldThreads.has(run.threadId)))
      return 'somebody works on it'
    const hold = holdOn(run) ?? heldWithin.get(run.runId)
    if (hold) return `hold ${hold.holdId}${hold.reason === null ? '' : ` (${hold.reason})`}`
    return late?.runIds.has(run.runId) ? `consumer ${late.name} has not seen all of it` : undefined
  }
}

function behind({ fromSeq, toSeq }: SeqRange, seq: number): SeqRange[] {
  const from = Math.max(fromSeq, seq + 1)
  return from <= toSeq ? [{ fromSeq: from, toSeq }] : []
}

/** Two rules may take the same event: the first has it. */
function withoutOverlap(ranges: readonly PlannedRange[]): PlannedRange[] {
  const taken = new Map<string, Set<number>>()
  return ranges.flatMap((range) => {
    if (range.deletes) return [range]
    const seqs = taken.get(range.runId) ?? new Set<number>()
    taken.set(range.runId, seqs)
    const free: PlannedRange[] = []
    for (let seq = range.fromSeq; seq <= range.toSeq; seq++) {
      if (seqs.has(seq)) continue
      seqs.add(seq)
      const last = free.at(-1)
      if (last?.toSeq === seq - 1) free.splice(-1, 1, { ...last, toSeq: seq })
      else free.push({ ...range, fromSeq: seq, toSeq: seq })
    }
    return free
  })
}

function groupBy(
  runs: readonly RunFacts[],
  keyOf: (run: RunFacts) => string | null,
): Map<string, RunFacts[]> {
  const groups = new Map<string, RunFacts[]>()
  for (const run of runs) {
    const key = keyOf(run)
    if (key === null) continue
    const group = groups.get(key)
    if (group) group.push(run)
    else groups.set(key, [run])
  }
  return groups
}
