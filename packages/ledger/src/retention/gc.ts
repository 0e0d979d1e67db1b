import { auditEvent } from '../audit-book.ts'
import { checkInput } from '../envelope.ts'
import { ClewError } from '../errors.ts'
import type { Ledger } from '../ledger.ts'
import { parseMemoryBook } from '../memory/item.ts'
import type { Preparer } from '../prepare.ts'
import type { EventPlace } from './facts.ts'
import { gatherFacts, type GatherParts, readSeals, readStandsOn, without } from './gather.ts'
import { findHold } from './find-hold.ts'
import { findHoldWithin } from './held-items.ts'
import { type Hold, readHolds, type StandingHolds } from './holds.ts'
import { createPace } from './pace.ts'
import { type KeptRun, type PlannedRange, planRetention, type RetentionPlan } from './plan.ts'
import type { RetentionPolicy, RetentionPolicyInput } from './policy.ts'
import type { StoredRun } from '../store.ts'
import type { PruneItem } from './store-retention.ts'
import { SEARCH_VERSION, toDocument } from '../search/extract.ts'
import type { SearchDocument } from '../search/search-index.ts'
import { sweepValues } from './sweep-values.ts'

export interface GcOptions {
  /** What may go; without it the policy that the ledger was opened with. */
  readonly policy?: RetentionPolicyInput | undefined
  /** Only say what would go and why. */
  readonly dryRun?: boolean | undefined
  /** Who stands in the audit book. */
  readonly by?: string | undefined
  /** Told how many events are gone, of how many; what it throws ends the work, which the next gc goes on with. */
  readonly onProgress?: ((events: number, total: number) => void) | undefined
}

export interface GcReport {
  readonly dryRun: boolean
  readonly events: number
  /** Runs that are deleted. */
  readonly runs: number
  /** Shared values that nobody needed any more. */
  readonly values: number
  readonly rules: readonly { readonly rule: string; readonly runs: number; readonly events: number }[]
  /** What goes, or went. */
  readonly ranges: readonly Pick<PlannedRange, 'runId' | 'fromSeq' | 'toSeq' | 'deletes' | 'rule'>[]
  /** What a rule names and somebody still needs. */
  readonly kept: readonly KeptRun[]
  readonly bytesBefore: number
  readonly bytesAfter: number
}

export interface GcParts extends GatherParts {
  readonly preparer: Preparer
  readonly ledger: Pick<Ledger, 'read' | 'getRun' | 'identity'>
  /** Values that are gone must not be remembered. */
  readonly forgetValues: () => void
}

/** Events of one transaction: they grow and shrink with the time that it takes. */
const FIRST_BATCH = 40
const LEAST_BATCH = 8
const LARGEST_BATCH = 1000
const MOST_RUNS = 100

/**
 * P4. Plans, then takes away in batches: each is one short transaction that seals ranges, names them in the audit book and
 * deletes their events. Between batches writers have more time than a batch took. A kill leaves whole batches; the next
 * gc goes on with the rest.
 */
export async function collectGarbage(
  parts: GcParts,
  policy: RetentionPolicy,
  { dryRun = false, by, onProgress }: GcOptions,
): Promise<GcReport> {
  const { store, ports } = parts
  const bytesBefore = (await store.stats()).bytes
  let holds = await readHolds(parts.ledger)
  const between = dryRun ? undefined : () => store.retention.writeBack()
  const plan = await makePlan({ ...parts, between }, policy, holds.holds)
  const total = countEvents(plan.ranges)
  if (dryRun)
    return { dryRun, ...describe(plan.ranges, plan.kept), values: 0, bytesBefore, bytesAfter: bytesBefore }

  const gone: PlannedRange[] = []
  const kept = new Map<string, KeptRun>(plan.kept.map((each) => [each.runId, each]))
  // Newest first: a fork goes before what it shares.
  const work = [...plan.ranges]
  const pace = await createPace(store, ports)
  let size = FIRST_BATCH
  let done = 0
  while (work.length > 0) {
    const batch = takeBatch(work, size)
    const documents = await documentsOf(parts, batch)
    // Before, for without their events words could not be taken out any more; after, for what was indexed in between.
    await store.search.remove(documents, SEARCH_VERSION)
    const outcome = await prune(parts, batch, holds, by)
    if ('events' in outcome) {
      await store.search.remove(documents, SEARCH_VERSION)
      gone.push(...batch)
      holds = { ...holds, seq: holds.seq + 1 }
      done += outcome.events
      onProgress?.(done, total)
      size = nextSize(size, outcome.tookMs / pace.batchMs)
      await pace.rest(outcome.tookMs, 1)
    } else if ('moved' in outcome) {
      await leave(new Set(outcome.moved), 'somebody went on with it')
    } else if (outcome.error.code === 'wrong_seq') {
      holds = await readHolds(parts.ledger)
      const held = await stillHeld(parts, batch, holds)
      work.push(...batch.toReversed())
      await leave(held, 'a hold was set')
    } else throw outcome.error

    async function leave(runIds: ReadonlySet<string>, reason: string): Promise<void> {
      // Their words were taken out already: the index is made again.
      if (runIds.size > 0 && documents.length > 0) await store.search.clear()
      const back = 'moved' in outcome ? [...batch, ...work.toReversed()] : work.toReversed()
      for (const { runId, rule } of back) if (runIds.has(runId)) kept.set(runId, { runId, rule, reason })
      const rest = back.filter(({ runId }) => !runIds.has(runId))
      work.splice(0, work.length, ...rest.toReversed())
    }
  }
  const values = await sweepValues(parts)
  parts.forgetValues()
  for (let startedMs = ports.now(); await store.retention.reclaim(pace.isShared); startedMs = ports.now())
    await pace.rest(ports.now() - startedMs, 0)
  const bytesAfter = (await store.stats()).bytes
  return { dryRun, ...describe(joined(gone), [...kept.values()]), values, bytesBefore, bytesAfter }
}

/** What `gc` would take, for whoever only asks; `runs` are those that are there, newest first, if they are known. */
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

/** Books of memory go as a whole and stay as books: what went of them before cannot go again. */
async function stillThere(
  { store, workspace }: GatherParts,
  ranges: readonly PlannedRange[],
): Promise<PlannedRange[]> {
  const books = ranges.map(({ runId }) => runId).filter((runId) => parseMemoryBook(runId))
  const seals = await readSeals(store, workspace, books)
  return ranges.flatMap((range) =>
    without(range, seals.get(range.runId) ?? []).map((part) => ({ ...range, ...part })),
  )
}

/** `share` is what the last one took of the time that it may take: now and then more, for others work on this machine too. */
function nextSize(size: number, share: number): number {
  const next = share > 1 ? size * 0.8 : share < 0.8 ? size * 1.2 : size
  return Math.round(Math.min(LARGEST_BATCH, Math.max(LEAST_BATCH, next)))
}

/** Takes ranges from the end of the list; of a long one its beginning. */
function takeBatch(work: PlannedRange[], size: number): PlannedRange[] {
  const batch: PlannedRange[] = []
  let left = size
  const sources = new Set<string | null>()
  for (let next = work.at(-1); next && left > 0 && batch.length < MOST_RUNS; next = work.at(-1)) {
    // Only when the fork is gone, nobody needs what it shared.
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

/** What the search index holds of these ranges. */
async function documentsOf(
  { store, reader, workspace }: GcParts,
  batch: readonly PlannedRange[],
): Promise<SearchDocument[]> {
  const { position } = await store.search.state()
  if (position === 0) return []
  const documents: SearchDocument[] = []
  for (const { runId, fromSeq, toSeq } of batch) {
    const range = { afterSeq: fromSeq - 1, upToSeq: toSeq, limit: toSeq - fromSeq + 1 }
    const stored = (await store.readRun({ workspace, runId }, range)).filter(
      (event) => event.position <= position,
    )
    documents.push(...(await reader.toPlainEvents(stored)).map(toDocument))
  }
  return documents
}

async function prune(
  parts: GcParts,
  batch: readonly PlannedRange[],
  { seq: expectedSeq }: StandingHolds,
  by: string | undefined,
) {
  const { store, workspace, preparer } = parts
  const items: (PruneItem & Pick<PlannedRange, 'rule'>)[] = []
  const moved: string[] = []
  for (const range of batch) {
    const headHash = await headOf(parts, range)
    if (headHash === undefined) moved.push(range.runId)
    else items.push({ ...range, headHash })
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
  const event = preparer.prepare(checkInput(auditEvent('system.range_pruned', payload)))
  return store.retention.prune({ workspace, items, call: { workspace, events: [event], expectedSeq } })
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
  { holds }: StandingHolds,
): Promise<Set<string>> {
  const held = new Set<string>()
  for (const { runId } of batch) {
    const run = await parts.store.findRun({ workspace: parts.workspace, runId })
    if (!run) continue
    const hold = await findHold(parts, holds, run.summary)
    if (hold ?? (parseMemoryBook(runId) && (await findHoldWithin(parts, holds, runId)))) held.add(runId)
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
    'There is no retention policy, and without one nothing goes',
    'Give one: gc({ policy }), openLedger(url, { retention }), setPolicy({ retention }), or clew gc --policy FILE.',
    { option: 'policy' },
  )
}
