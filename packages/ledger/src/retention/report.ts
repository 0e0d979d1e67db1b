import { isSystemRun } from '../event/system-run.ts'
import { parseMemoryRunId } from '../memory/item.ts'
import type { StoredRun } from '../store/store.ts'
import type { GcParts, GcReport, PolicySource } from './gc.ts'
import { planGc } from './gc.ts'
import { foldGrowth, type Growth } from './growth.ts'
import { createHoldCheck } from './find-hold.ts'
import { type Hold, readHolds, toHold } from './holds.ts'
import { type LastGc, readLastGc } from './last-gc.ts'
import { parsePolicy, type RetentionPolicyInput } from './policy.ts'
import { proposePolicy, type ProposedPolicy } from './propose.ts'
import { ownEvents, readGrowth } from './read-growth.ts'
import type { StoragePart } from '../store/disk.ts'

/** Source of the policy in force, and when it was set. */
export interface PolicyInForce extends PolicySource {
  readonly policy: RetentionPolicyInput
  /** Why it cannot be used; then nothing goes by it. */
  readonly problem: string | null
}

/** Deletions that a policy would cause today: the plan of `gc` with the first entries of its lists. */
export interface RetentionOutlook extends Pick<GcReport, 'events' | 'runs' | 'rules' | 'ranges' | 'kept'> {
  /** How many more there are of each list. */
  readonly moreRanges: number
  readonly moreKept: number
}

export interface ReportedHold extends Hold {
  /** How many runs it keeps today, without system runs of which it only covers single items. */
  readonly runs: number
}

/** R10: how much there is, how fast it grows, what goes and what stays. Nothing is changed by asking. */
export interface RetentionReport {
  readonly workspace: string
  readonly takenAt: string
  /** Size of the whole store, which other workspaces may share. */
  readonly size: {
    readonly bytes: number
    readonly parts: readonly StoragePart[]
    readonly isShared: boolean
  }
  /** Runs of this workspace except deleted ones. */
  readonly runs: number
  readonly systemRuns: number
  readonly events: number
  readonly oldest: { readonly runId: string; readonly recordedAt: string } | null
  readonly growth: Growth
  readonly policy: PolicyInForce | null
  /** Plan of the policy in force; null without one, or if there are too many runs to plan while the caller waits. */
  readonly goes: RetentionOutlook | null
  readonly holds: readonly ReportedHold[]
  readonly lastGc: LastGc | null
  /** Null when the policy in force leaves nothing to propose. */
  readonly proposal: (ProposedPolicy & { readonly goes: RetentionOutlook | null }) | null
  /** False where there are more runs than were looked at: then counts are at least so high, and nothing is planned. */
  readonly isWhole: boolean
}

const MAX_RUNS = 20_000
const LISTED = 100

export async function readRetentionReport(
  parts: GcParts,
  inForce: Omit<PolicyInForce, 'problem'> | null,
  mostRuns = MAX_RUNS,
): Promise<RetentionReport> {
  const { store, workspace, ports } = parts
  const nowMs = ports.now()
  const all: StoredRun[] = []
  let isWhole = true
  for await (const run of parts.runs.allRuns({ deleted: true })) {
    if (all.length >= mostRuns) {
      isWhole = false
      break
    }
    all.push(run)
  }
  const there = all.filter(({ summary }) => summary.status !== 'deleted')
  const { stats, storage, workspaces } = await store.info('stats', 'storage', 'workspaces')
  const { events, bytes } = stats
  const size = storage.reduce((sum, part) => sum + part.bytes, 0)
  const oldest = await readOldest(parts, there)
  const { marks, isExact } = await readGrowth({ store, workspace, nowMs }, all)
  const growth = foldGrowth(
    {
      nowMs,
      oldestMs: oldest && Date.parse(oldest.recordedAt),
      bytes: size,
      bytesPerEvent: events === 0 ? 0 : bytes / events,
      isExact: isExact && isWhole,
    },
    marks,
  )
  const { holds } = await readHolds(parts.ledger)
  const policy = inForce && { ...inForce, problem: problemOf(inForce.policy) }
  const usable = policy?.problem === null ? policy.policy : null
  const outlook = async (given: RetentionPolicyInput): Promise<RetentionOutlook | null> =>
    isWhole ? toOutlook(await planGc(parts, parsePolicy(given), holds, there)) : null
  const proposal = proposePolicy({ growth, inForce: usable, memory: countMemory(there) })
  return {
    workspace,
    takenAt: new Date(nowMs).toISOString(),
    size: {
      bytes: size,
      parts: storage,
      isShared: workspaces.some((each) => each !== workspace),
    },
    runs: there.filter(({ summary }) => !isSystemRun(summary.runId)).length,
    systemRuns: there.filter(({ summary }) => isSystemRun(summary.runId)).length,
    events: there.reduce((sum, run) => sum + ownEvents(run), 0),
    oldest,
    growth,
    policy,
    goes: usable && (await outlook(usable)),
    holds: holds.map((hold) => ({ ...toHold(hold), runs: countHeld(hold, there) })),
    lastGc: await readLastGc(parts),
    proposal: proposal && { ...proposal, goes: await outlook(proposal.policy) },
    isWhole,
  }
}

/**
 * Runs come in the order in which they began here, so the oldest event is the first one of the oldest run; but what was
 * imported came later and may be older.
 */
async function readOldest(
  { store, workspace }: GcParts,
  runs: readonly StoredRun[],
): Promise<RetentionReport['oldest']> {
  const least = (of: (run: StoredRun) => string): StoredRun | undefined =>
    runs.reduce<StoredRun | undefined>((best, run) => (best && of(best) <= of(run) ? best : run), undefined)
  const candidates = [runs.at(-1), least((run) => run.recordedAt), least(({ summary }) => summary.startedAt)]
  let oldest: RetentionReport['oldest'] = null
  for (const run of new Set(candidates)) {
    if (!run) continue
    const { runId } = run.summary
    const [first] = await store.readRun({ workspace, runId }, { afterSeq: run.forkOf?.seq ?? 0, limit: 1 })
    const recordedAt = first?.recordedAt ?? run.recordedAt
    if (!oldest || recordedAt < oldest.recordedAt) oldest = { runId, recordedAt }
  }
  return oldest
}

function problemOf(policy: RetentionPolicyInput): string | null {
  try {
    parsePolicy(policy)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function countMemory(runs: readonly StoredRun[]): Record<'short' | 'session' | 'long', number> {
  const counts = { short: 0, session: 0, long: 0 }
  for (const { summary } of runs) {
    const memory = parseMemoryRunId(summary.runId)
    if (memory) counts[memory.layer]++
  }
  return counts
}

function countHeld(hold: Hold, runs: readonly StoredRun[]): number {
  const summaries = runs.map(({ summary }) => summary)
  const holdOn = createHoldCheck([hold], summaries)
  return summaries.filter((summary) => holdOn(summary)).length
}

function toOutlook({
  events,
  runs,
  rules,
  ranges,
  kept,
}: Awaited<ReturnType<typeof planGc>>): RetentionOutlook {
  return {
    events,
    runs,
    rules,
    ranges: ranges.slice(0, LISTED),
    moreRanges: Math.max(0, ranges.length - LISTED),
    kept: kept.slice(0, LISTED),
    moreKept: Math.max(0, kept.length - LISTED),
  }
}
