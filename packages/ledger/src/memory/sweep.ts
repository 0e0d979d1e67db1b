import { findRun } from '../store/find-runs.ts'
import type { EventInput } from '../event/envelope.ts'
import type { Identities } from '../event/identity.ts'
import { isoText } from '../event/iso-text.ts'
import type { Ledger } from '../ledger.ts'
import { findHold } from '../retention/find-hold.ts'
import { createItemHoldCheck } from '../retention/held-items.ts'
import { isExpired } from './fold.ts'
import { type MemoryRow, type MemoryScope, parseMemoryRunId } from './item.ts'
import type { MemorySweepOptions, MemorySweepReason, MemorySweepReport, SweptItem } from './ledger-memory.ts'
import { checkMemoryPolicy, type LayerRetention, type MemoryPolicy } from './policy.ts'
import { ask } from './read-items.ts'
import type { WriteParts } from './write-item.ts'

const PAGE = 500
const MAX_SHOWN = 1000

export interface SweepParts extends WriteParts {
  readonly identities: Identities
  readonly holds: Ledger['holds']
}

/**
 * M3: forgets what has expired and what its layer does not keep, but for what a legal hold covers (P4). Each forgotten item
 * is an event that names the version it saw, so one that is written meanwhile stays, and a sweep that was killed is simply
 * done again.
 */
export async function sweepItems(
  parts: SweepParts,
  declared: MemoryPolicy['retention'],
  { dryRun = false, layers, scopes, retention = declared }: MemorySweepOptions,
): Promise<MemorySweepReport> {
  checkMemoryPolicy({ retention })
  const { index, filter } = await ask(parts, { layers, scopes })
  const sizes = await index.sizes(filter)
  const items: SweptItem[] = []
  const sums = new Map<string, MemorySweepReport['byReason'][number]>()
  const holds = await parts.holds()
  const itemHold = createItemHoldCheck(parts, holds)
  let [checked, forgotten, bytes, held] = [0, 0, 0, 0]
  for (const { memoryRun } of sizes) {
    const scope = parseMemoryRunId(memoryRun) as MemoryScope
    const reasonOf = await createReasonFinder(parts, scope, retention?.[scope.layer] ?? {})
    const run = await findRun(parts.store, { workspace: parts.workspace, runId: memoryRun })
    const runHold = run && (await findHold(parts, holds, run.summary))
    for (let before: number | undefined; ; ) {
      const page = await index.list({
        ...filter,
        memoryRuns: [memoryRun],
        nowMs: null,
        order: 'newest',
        limit: PAGE,
        before,
      })
      const going: SweptItem[] = []
      const events: EventInput[] = []
      for (const row of page) {
        const reason = reasonOf(row)
        if (!reason) continue
        if (runHold ?? (await itemHold(row))) {
          held++
          continue
        }
        going.push({
          ...scope,
          namespace: row.namespace,
          key: row.key,
          version: row.seq,
          bytes: row.bytes,
          reason,
        })
        events.push(forgottenEvent(parts, [row], scope, reason))
      }
      if (!dryRun && events.length > 0) await parts.append(events)
      checked += page.length
      forgotten += going.length
      for (const item of going) {
        bytes += item.bytes
        if (items.length < MAX_SHOWN) items.push(item)
        const name = `${item.layer} ${item.reason}`
        const sum = sums.get(name) ?? { layer: item.layer, reason: item.reason, items: 0, bytes: 0 }
        sums.set(name, { ...sum, items: sum.items + 1, bytes: sum.bytes + item.bytes })
      }
      before = page.at(-1)?.position
      if (page.length < PAGE) break
    }
  }
  const byReason = [...sums.values()]
  return { dryRun, scopes: sizes.length, checked, forgotten, held, bytes, byReason, items }
}

/** Returns the reason to delete a row, if there is one; call it with rows from the newest on. */
async function createReasonFinder(
  parts: SweepParts,
  scope: MemoryScope,
  { ttlMs, maxItems = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY }: LayerRetention,
): Promise<(row: MemoryRow) => MemorySweepReason | undefined> {
  const nowMs = parts.ports.now()
  const now = isoText(nowMs)
  const idleSince = ttlMs === undefined ? null : await lastUse(parts, scope)
  let newestMs: number | undefined
  let [items, bytes] = [0, 0]
  return (row) => {
    const updatedMs = Date.parse(row.updatedAt)
    newestMs ??= updatedMs
    if (isExpired(row, now)) return 'expired'
    if (ttlMs !== undefined) {
      const unusedMs = scope.layer === 'session' ? newestMs : updatedMs
      if (Math.max(unusedMs, idleSince ?? 0) + ttlMs <= nowMs) return 'ttl'
    }
    if (items + 1 > maxItems) return 'max_items'
    if (bytes + row.bytes > maxBytes) return 'max_bytes'
    items++
    bytes += row.bytes
    return undefined
  }
}

/** When the run of short memory ended, never while it may go on; when its thread was last worked in. */
async function lastUse(
  { store, workspace, identities }: SweepParts,
  { layer, scope }: MemoryScope,
): Promise<number | null> {
  if (layer === 'short') {
    const run = (await findRun(store, { workspace, runId: scope }))?.summary
    if (!run) return null
    return run.endedAt === null ? Number.POSITIVE_INFINITY : Date.parse(run.endedAt)
  }
  if (layer === 'long') return null
  const threadIds = identities.identity(scope).names
  const { runs } = await store.findRuns({ workspace, threadIds, limit: 1 })
  return runs[0] ? Date.parse(runs[0].summary.updatedAt) : null
}

/** Forgets an item by its newest row; `others` are rows of the same item under other forms of its name. */
export function forgottenEvent(
  { spellings }: Pick<WriteParts, 'spellings'>,
  [row, ...others]: readonly [MemoryRow, ...MemoryRow[]],
  { layer }: Pick<MemoryScope, 'layer'>,
  reason: string,
  runId?: string,
): EventInput {
  const { memoryRun, seq, subjects } = row
  const name = spellings.stored(row)
  const replaces = [row, ...others]
    .filter(({ namespace, key }) => namespace !== name.namespace || key !== name.key)
    .map((each) => each.seq)
  return {
    eventType: 'execution.memory_forgotten',
    correlationId: memoryRun,
    source: { origin: runId === undefined ? 'system' : 'agent', runtime: 'clew' },
    payload: {
      layer,
      ...name,
      version: seq,
      ...(replaces.length > 0 && { replaces }),
      reason,
      // Adds the subjects, so that erasing a person finds this event, too.
      ...(subjects.length > 0 && { subjects }),
      ...(runId !== undefined && { runId }),
    },
  }
}
