import { findRun } from '../store/find-runs.ts'
import { AUDIT_RUN_ID, auditEvent } from '../append/audit-run.ts'
import { writeAudited } from '../append/audited-change.ts'
import { ClewError } from '../errors.ts'
import type { Ledger } from '../ledger.ts'
import { parseMemoryRunId } from '../memory/item.ts'
import type { Preparer } from '../append/prepare.ts'
import type { EventPlace } from './facts.ts'
import { gatherFacts, type GatherParts, readRuns, readStandsOn, without } from './gather.ts'
import { findHold } from './find-hold.ts'
import { findHoldWithin } from './held-items.ts'
import { type Hold, readHolds, type ActiveHolds } from './holds.ts'
import { createPace } from './pace.ts'
import { type KeptRun, type PlannedRange, planRetention, type RetentionPlan } from './plan.ts'
import type { RetentionPolicy, RetentionPolicyInput } from './policy.ts'
import type { StoredRun } from '../store/store.ts'
import type { PruneItem, PruneMarker } from '../store/change.ts'
import { sweepValues } from './sweep-values.ts'

export interface GcOptions {
  /** Policy to apply; by default that of the workspace, else the one that the ledger was opened with. */
  readonly policy?: RetentionPolicyInput | undefined
  /** Only report what would be deleted and why. */
  readonly dryRun?: boolean | undefined
  /** Name recorded in the audit run. */
  readonly by?: string | undefined
  /** Called with the number of deleted events and the total; an exception ends the work, and the next gc continues it. */
  readonly onProgress?: ((events: number, total: number) => void) | undefined
}

/** Source of a retention policy: given to `gc`, set for the workspace (`setPolicy`), or given to `openLedger`. */
export interface PolicySource {
  readonly source: 'given' | 'workspace' | 'opened'
  /** Actor and time of the last change of the workspace's policy, if recorded. */
  readonly by: string | null
  readonly at: string | null
}

export interface GcReport {
  readonly policy: PolicySource
  readonly dryRun: boolean
  readonly events: number
  /** Runs that are deleted. */
  readonly runs: number
  /** Deleted shared values that no event referenced. */
  readonly values: number
  readonly rules: readonly { readonly rule: string; readonly runs: number; readonly events: number }[]
  /** Ranges to delete, or deleted. */
  readonly ranges: readonly Pick<PlannedRange, 'runId' | 'fromSeq' | 'toSeq' | 'deletes' | 'rule'>[]
  /** Run that a rule matches but that is still needed. */
  readonly kept: readonly KeptRun[]
  readonly bytesBefore: number
  readonly bytesAfter: number
}

export interface GcParts extends GatherParts {
  readonly preparer: Preparer
  readonly ledger: Pick<Ledger, 'read' | 'getRun' | 'identity'>
  /** Caches must drop deleted values. */
  readonly forgetValues: () => void
}

/** Events of one transaction: they grow and shrink with the time that it takes. */
const FIRST_BATCH = 40
const MIN_BATCH = 8
const LARGEST_BATCH = 1000
const MAX_RUNS = 100

/**
 * P4. Plans, then takes away in batches: each is one short transaction that seals ranges, names them in the audit run and
 * deletes their events. Between batches writers have more time than a batch took. A kill leaves whole batches; the next
 * gc goes on with the rest.
 */
export async function collectGarbage(
  parts: GcParts,
  policy: RetentionPolicy,
  source: PolicySource,
  { dryRun = false, by, onProgress }: GcOptions,
): Promise<GcReport> {
  const { store, ports } = parts
  const bytesBefore = (await store.info('stats')).stats.bytes
  let holds = await readHolds(parts.ledger)
  const between = dryRun ? undefined : store.disk.flush
  const plan = await makePlan({ ...parts, between }, policy, holds.holds)
  const total = countEvents(plan.ranges)
  if (dryRun)
    return {
      policy: source,
      dryRun,
      ...describe(plan.ranges, plan.kept),
      values: 0,
      bytesBefore,
      bytesAfter: bytesBefore,
    }

  const gone: PlannedRange[] = []
  const kept = new Map<string, KeptRun>(plan.kept.map((each) => [each.runId, each]))
  // Newest first, from the end: a fork is deleted before the events that it shares.
  let work = [...plan.ranges]
  const leave = (runIds: ReadonlySet<string>, reason: string): void => {
    for (const { runId, rule } of work) if (runIds.has(runId)) kept.set(runId, { runId, rule, reason })
    work = work.filter(({ runId }) => !runIds.has(runId))
  }
  const pace = await createPace(store, ports)
  let size = FIRST_BATCH
  let done = 0
  while (work.length > 0) {
    const batch = takeBatch(work, size)
    const outcome = await prune(parts, batch, holds, by)
    if ('event' in outcome) {
      gone.push(...batch)
      holds = { ...holds, seq: holds.seq + 1 }
      done += countEvents(batch)
      onProgress?.(done, total)
      store.disk.flush()
      size = nextSize(size, outcome.tookMs / pace.batchMs)
      await pace.rest(outcome.tookMs, 1)
      continue
    }
    work.push(...batch.toReversed())
    if (outcome.moved.includes(AUDIT_RUN_ID)) {
      holds = await readHolds(parts.ledger)
      leave(await stillHeld(parts, batch, holds), 'a hold was set')
    } else leave(new Set(outcome.moved), 'somebody went on with it')
  }
  const values = await sweepValues(parts)
  parts.forgetValues()
  for (let startedMs = ports.now(); await store.disk.reclaim(pace.isShared); startedMs = ports.now())
    await pace.rest(ports.now() - startedMs, 0)
  const bytesAfter = (await store.info('stats')).stats.bytes
  return {
    policy: source,
    dryRun,
    ...describe(joined(gone), [...kept.values()]),
    values,
    bytesBefore,
    bytesAfter,
  }
}

/** Plans what `gc` would delete. `runs` are the stored runs, newest first, if already known. */
export async function planGc(
  parts: GatherParts,
  policy: RetentionPolicy,
  holds: readonly Hold[],
  runs?: readonly StoredRun[],
): Promise<Pick<GcReport, 'events' | 'runs' | 'rules' | 'ranges' | 'kept'>> {
  const plan = await makePlan(parts, policy, holds, runs)
  return describe(plan.ranges, plan.kept)
}

async function makePlan(
  parts: GatherParts,
  policy: RetentionPolicy,
  holds: readonly Hold[],
  runs?: readonly StoredRun[],
): Promise<RetentionPlan> {
  const facts = await gatherFacts(parts, policy, holds, runs)
  const standsOn = new Map<string, readonly EventPlace[]>()
  for (;;) {
    const plan = planRetention(policy, { ...facts, standsOn })
    if (plan.lacking.length === 0) return { ...plan, ranges: await stillThere(parts, plan.ranges) }
    for (const runId of plan.lacking) {
      standsOn.set(runId, await readStandsOn(parts, runId))
      parts.between?.()
    }
  }
}

/** Memory runs are deleted whole but stay as runs: ranges pruned earlier cannot be pruned again. */
async function stillThere(parts: GatherParts, ranges: readonly PlannedRange[]): Promise<PlannedRange[]> {
  const memoryRuns = ranges.map(({ runId }) => runId).filter((runId) => parseMemoryRunId(runId))
  const seals = new Map<string, readonly PruneMarker[]>()
  for await (const { summary, pruned = [] } of readRuns(parts, memoryRuns, 'pruned'))
    seals.set(summary.runId, pruned)
  return ranges.flatMap((range) =>
    without(range, seals.get(range.runId) ?? []).map((part) => ({ ...range, ...part })),
  )
}

/** `share` is what the last one took of the time that it may take: now and then more, for others work on this machine too. */
function nextSize(size: number, share: number): number {
  const next = share > 1 ? size * 0.8 : share < 0.8 ? size * 1.2 : size
  return Math.round(Math.min(LARGEST_BATCH, Math.max(MIN_BATCH, next)))
}

/** Takes ranges from the end of the list; of a long one its beginning. */
function takeBatch(work: PlannedRange[], size: number): PlannedRange[] {
  const batch: PlannedRange[] = []
  let left = size
  const sources = new Set<string | null>()
  for (let next = work.at(-1); next && left > 0 && batch.length < MAX_RUNS; next = work.at(-1)) {
    // The shared prefix is free only after the fork was deleted.
    if (sources.has(next.runId)) break
    sources.add(next.source)
    work.pop()
    const toSeq = Math.min(next.toSeq, next.fromSeq + left - 1)
    if (toSeq < next.toSeq) work.push({ ...next, fromSeq: toSeq + 1 })
    batch.push({ ...next, toSeq })
    left -= toSeq - next.fromSeq + 1
  }
  return batch
}

async function prune(
  parts: GcParts,
  batch: readonly PlannedRange[],
  { seq: expectedSeq }: ActiveHolds,
  by: string | undefined,
) {
  const { workspace } = parts
  const items: (PruneItem & Pick<PlannedRange, 'rule'>)[] = []
  const moved: string[] = []
  for (const range of batch) {
    const headHash = await headOf(parts, range)
    if (headHash === undefined) moved.push(range.runId)
    else items.push({ ...range, workspace, headHash })
  }
  if (moved.length > 0) return { moved }
  const ranges = items.map(({ runId, fromSeq, toSeq, headHash, rule, deletes }) => ({
    runId,
    fromSeq,
    toSeq,
    headHash,
    rule,
    ...(deletes && { deletes }),
  }))
  const payload = { ranges, events: countEvents(items), ...(by !== undefined && { by }) }
  return writeAudited(parts, auditEvent('system.range_pruned', payload), expectedSeq, { prune: items })
}

async function headOf(
  { store, workspace }: GcParts,
  { runId, toSeq, seq, hash }: PlannedRange,
): Promise<string | undefined> {
  if (toSeq === seq) return hash
  const [event] = await store.readRun({ workspace, runId }, { afterSeq: toSeq - 1, upToSeq: toSeq, limit: 1 })
  return event?.hash
}

async function stillHeld(
  parts: GcParts,
  batch: readonly PlannedRange[],
  { holds }: ActiveHolds,
): Promise<Set<string>> {
  const held = new Set<string>()
  for (const { runId } of batch) {
    const run = await findRun(parts.store, { workspace: parts.workspace, runId })
    if (!run) continue
    const hold = await findHold(parts, holds, run.summary)
    if (hold ?? (parseMemoryRunId(runId) && (await findHoldWithin(parts, holds, runId)))) held.add(runId)
  }
  return held
}

const countEvents = (ranges: readonly Pick<PlannedRange, 'fromSeq' | 'toSeq'>[]): number =>
  ranges.reduce((sum, { fromSeq, toSeq }) => sum + toSeq - fromSeq + 1, 0)

/** Batches of one range as that range. */
function joined(ranges: readonly PlannedRange[]): PlannedRange[] {
  const whole: PlannedRange[] = []
  for (const range of ranges) {
    const last = whole.at(-1)
    if (last?.runId === range.runId && last.rule === range.rule && last.toSeq === range.fromSeq - 1)
      whole.splice(-1, 1, { ...last, toSeq: range.toSeq })
    else whole.push(range)
  }
  return whole
}

function describe(
  ranges: readonly PlannedRange[],
  kept: readonly KeptRun[],
): Pick<GcReport, 'events' | 'runs' | 'rules' | 'ranges' | 'kept'> {
  const rules = new Map<string, { runs: Set<string>; events: number }>()
  for (const range of ranges) {
    const entry = rules.get(range.rule) ?? { runs: new Set(), events: 0 }
    entry.runs.add(range.runId)
    entry.events += countEvents([range])
    rules.set(range.rule, entry)
  }
  return {
    events: countEvents(ranges),
    runs: new Set(ranges.filter(({ deletes }) => deletes).map(({ runId }) => runId)).size,
    rules: [...rules].map(([rule, { runs, events }]) => ({ rule, runs: runs.size, events })),
    ranges: ranges.map(({ runId, fromSeq, toSeq, deletes, rule }) => ({
      runId,
      fromSeq,
      toSeq,
      deletes,
      rule,
    })),
    kept,
  }
}

export function missingPolicy(): ClewError {
  return new ClewError(
    'bad_option',
    'There is no retention policy, and without one nothing is deleted',
    'Give one: gc({ policy }), openLedger(url, { retention }), setPolicy({ retention }), or clew gc --policy FILE.',
    { option: 'policy', missing: true },
  )
}
