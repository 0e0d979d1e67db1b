import { findRun } from '../store/find-runs.ts'
import { isSystemRun } from '../event/system-run.ts'
import { CHECKPOINT_KEYS, checkpointOf } from '../fold/checkpoint.ts'
import { isTerminal } from '../fold/run-summary.ts'
import { parseMemoryRunId } from '../memory/item.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Ports } from '../ports.ts'
import type { RunReader } from '../read/run-reader.ts'
import { readCursors } from '../store/cursors.ts'
import type { RunQuery, Store, StoredRun } from '../store/store.ts'
import type { EventPlace, RetentionFacts, RunFacts, SeqRange } from './facts.ts'
import { findHoldWithin } from './held-items.ts'
import type { Hold } from './holds.ts'
import { isOnlyRecorded } from './is-prunable.ts'
import { fits, isKeptBy, selectRuns } from './match.ts'
import type { RetentionPolicy, RetentionRule } from './policy.ts'
import type { PruneMarker } from '../store/change.ts'

export interface GatherParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
  readonly ports: Ports
  readonly workspace: string
  /** Called between two reads of many. */
  readonly between?: (() => void) | undefined
}

const PAGE = 100

/** Reads all that a plan is made from, but what runs stand on: that is read for those that stay (`readStandsOn`). */
export async function gatherFacts(
  parts: GatherParts,
  policy: RetentionPolicy,
  holds: readonly Hold[],
  /** Stored runs, newest first, if already known. */
  known?: readonly StoredRun[],
): Promise<RetentionFacts> {
  const { store, runs, ports, workspace } = parts
  const listed: RunFacts[] = []
  for await (const run of known ?? runs.allRuns()) {
    listed.push(toFacts(run))
    parts.between?.()
  }
  listed.reverse()
  const bare: RetentionFacts = {
    workspace,
    nowMs: ports.now(),
    runs: [...listed, ...(await readLeftovers(parts))],
    leases: (await store.leases.list()).filter((lease) => lease.workspace === workspace),
    holds,
    heldWithin: new Map(),
    behind: null,
    bytes: policy.rules.some((rule) => rule.maxBytes !== undefined)
      ? await readSizes(parts, listed)
      : new Map(),
    standsOn: new Map(),
    parts: new Map(),
  }
  const facts = { ...bare, parts: await readParts(parts, policy, bare) }
  const asked = new Set(selectRuns(policy, facts).keys())
  for (const runs of facts.parts.values()) for (const runId of runs.keys()) asked.add(runId)
  const heldWithin = await readHeldWithin(parts, asked, holds)
  return { ...facts, heldWithin, behind: await readBehind(parts, asked, facts) }
}

async function readHeldWithin(
  parts: GatherParts,
  asked: ReadonlySet<string>,
  holds: readonly Hold[],
): Promise<RetentionFacts['heldWithin']> {
  const held = new Map<string, Hold>()
  for (const runId of asked) {
    if (!parseMemoryRunId(runId)) continue
    parts.between?.()
    const hold = await findHoldWithin(parts, holds, runId)
    if (hold) held.set(runId, hold)
  }
  return held
}

function toFacts({ summary, seq, hash, forkOf, recordedAt }: StoredRun): RunFacts {
  const { runId, status, agent, threadId, parentRunId, subjects } = summary
  const recordedMs = Date.parse(recordedAt)
  const facts = { runId, status, agent, threadId, parentRunId, subjects, forkOf, seq, hash, recordedMs }
  return { ...facts, isOnlyRecorded: isOnlyRecorded(summary) }
}

async function readLeftovers({ store, workspace }: GatherParts): Promise<RunFacts[]> {
  const found: RunFacts[] = []
  const query: RunQuery = { workspace, status: 'deleted', hasEvents: true, with: ['pruned'], limit: PAGE }
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.findRuns({ ...query, order: 'oldest', cursor })
    for (const run of page.runs) {
      const own = { fromSeq: (run.forkOf?.seq ?? 0) + 1, toSeq: run.seq }
      found.push({ ...toFacts(run), left: without(own, run.pruned ?? []) })
    }
    cursor = page.next
  }
  return found
}

/** Rows of many runs, a page of ids at a time. */
export async function* readRuns(
  { store, workspace, between }: GatherParts,
  runIds: readonly string[],
  part: 'bytes' | 'pruned',
): AsyncGenerator<StoredRun> {
  for (let at = 0; at < runIds.length; at += PAGE) {
    between?.()
    const ids = runIds.slice(at, at + PAGE)
    yield* (await store.findRuns({ workspace, ids, deleted: true, with: [part] })).runs
  }
}

/** Part of a range that is not yet pruned. */
export function without(range: SeqRange, seals: readonly PruneMarker[]): SeqRange[] {
  const left: SeqRange[] = []
  let next = range.fromSeq
  for (const { fromSeq, toSeq } of seals) {
    if (next < fromSeq) left.push({ fromSeq: next, toSeq: Math.min(range.toSeq, fromSeq - 1) })
    next = Math.max(next, toSeq + 1)
  }
  if (next <= range.toSeq) left.push({ fromSeq: next, toSeq: range.toSeq })
  return left
}

async function readSizes(parts: GatherParts, runs: readonly RunFacts[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const ids = runs.map(({ runId }) => runId)
  for await (const { summary, bytes } of readRuns(parts, ids, 'bytes')) sizes.set(summary.runId, bytes ?? 0)
  return sizes
}

/** The runs of which a consumer has not seen all, among those that may go (V9). */
async function readBehind(
  { store, workspace, between }: GatherParts,
  asked: ReadonlySet<string>,
  facts: RetentionFacts,
): Promise<RetentionFacts['behind']> {
  const cursors = await readCursors(store.slots, workspace)
  const [last] = cursors.toSorted((a, b) => a.position - b.position)
  const { newestPosition } = await store.info('newestPosition')
  if (!last || last.position >= newestPosition) return null
  const runIds = new Set<string>()
  for (const { runId, seq } of facts.runs) {
    if (!asked.has(runId)) continue
    between?.()
    const [head] = await store.readRun({ workspace, runId }, { afterSeq: seq - 1, limit: 1 })
    if (head && head.position > last.position) runIds.add(runId)
  }
  return { name: last.name, runIds }
}

async function readParts(
  parts: GatherParts,
  policy: RetentionPolicy,
  facts: RetentionFacts,
): Promise<RetentionFacts['parts']> {
  const found = new Map<string, Map<string, SeqRange[]>>()
  for (const rule of policy.rules) {
    const { types, systemRun } = rule.match
    if (!types && systemRun === undefined) continue
    const ranges = new Map<string, SeqRange[]>()
    for (const run of facts.runs) {
      if (run.status === 'deleted' || !fits(rule.match, run, facts.workspace) || isKeptBy(policy, facts, run))
        continue
      if (!isSystemRun(run.runId) && !isTerminal(run.status)) continue
      parts.between?.()
      const own = types
        ? await eventsOfTypes(parts, run, rule, facts.nowMs)
        : await oldPart(parts, run, rule, facts.nowMs)
      if (own.length > 0) ranges.set(run.runId, own)
    }
    found.set(rule.name, ranges)
  }
  return found
}

/** Events of a rule's types. The first and the last event stay: they record the agent and the end of the run. */
async function eventsOfTypes(
  { store, workspace }: GatherParts,
  { runId, seq, forkOf }: RunFacts,
  { match: { types }, olderThanMs = 0 }: RetentionRule,
  nowMs: number,
): Promise<SeqRange[]> {
  const ranges: SeqRange[] = []
  for (let afterSeq = (forkOf?.seq ?? 0) + 1; ; ) {
    const range = { afterSeq, upToSeq: seq - 1, limit: 500, types }
    const page = await store.readRun({ workspace, runId }, range)
    for (const event of page) {
      if (nowMs - Date.parse(event.recordedAt) < olderThanMs) return ranges
      const last = ranges.at(-1)
      if (last?.toSeq === event.seq - 1) ranges.splice(-1, 1, { ...last, toSeq: event.seq })
      else ranges.push({ fromSeq: event.seq, toSeq: event.seq })
    }
    if (page.length < 500) return ranges
    afterSeq = page.at(-1)?.seq ?? afterSeq
  }
}

/** The oldest events of a system run, up to the rule's age or number of newest events. The first one stays: it names the run. */
async function oldPart(
  { store, workspace }: GatherParts,
  { runId, seq, recordedMs }: RunFacts,
  { olderThanMs, newest = 0 }: RetentionRule,
  nowMs: number,
): Promise<SeqRange[]> {
  const at = async (afterSeq: number) =>
    (await store.readRun({ workspace, runId }, { afterSeq, limit: 1 }))[0]
  const first = await at(1)
  if (!first) return []
  let toSeq = seq - newest
  if (olderThanMs !== undefined && nowMs - recordedMs < olderThanMs) {
    // Within a run times never go back, so the border can be halved down to.
    let young = seq
    toSeq = first.seq - 1
    while (toSeq < young - 1) {
      const middle = Math.floor((toSeq + young) / 2)
      const event = await at(middle - 1)
      if (event && nowMs - Date.parse(event.recordedAt) >= olderThanMs) toSeq = middle
      else young = middle
    }
  }
  return first.seq <= toSeq ? [{ fromSeq: first.seq, toSeq }] : []
}

/** The events of other runs that the state of this one goes on from. */
export async function readStandsOn(
  { store, reader, runs, workspace }: GatherParts,
  runId: string,
): Promise<EventPlace[]> {
  const run = await findRun(store, { workspace, runId })
  const places: EventPlace[] = []
  if (!run) return places
  for await (const page of runs.ownEvents(run, { types: ['execution.checkpoint'] }))
    for (const stored of page) {
      const checkpoint = checkpointOf(await reader.toPartialEvent(stored, CHECKPOINT_KEYS))
      if (checkpoint?.from && !checkpoint.state) places.push(checkpoint.from)
    }
  return places
}
