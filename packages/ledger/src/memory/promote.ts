import { findRun } from '../store/find-runs.ts'
import type { EventInput } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import { deriveId } from '../event/ids.ts'
import { type MemoryItem, type MemoryScope } from './item.ts'
import type { Promotion, PromoteOptions, PromotionReport } from './ledger-memory.ts'
import { checkMemoryPolicy, type MemoryCondition, type PromotionRule } from './policy.ts'
import { ask, toItems } from './read-items.ts'
import { findOwn, findPlace, readRow, type WriteParts, writeIf } from './write-item.ts'

const PAGE = 500

/** Why an item that fits a rule is left where it is. */
const NEWER = 'the item there is newer'
const NO_PLACE = 'nothing says whose it would become'

/**
 * M2: applies the rules in their order, each to its items from the oldest on. The event of a promotion has an id made
 * from the event that wrote the item, so each item is promoted once, whichever process retries, and however often.
 */
export async function promoteItems(
  parts: WriteParts,
  declared: readonly PromotionRule[] | undefined,
  { rules = declared, scopes, dryRun = false, callId }: PromoteOptions,
): Promise<PromotionReport> {
  if (!rules || rules.length === 0)
    throw new ClewError(
      'bad_option',
      'No rule says what may be promoted',
      'Declare memory: { promote: [{ from, to, when }] } where the ledger is opened or the agent is made.',
      { option: 'memory.promote' },
    )
  checkMemoryPolicy({ promote: rules })
  const promoted: Promotion[] = []
  const kept: (Omit<Promotion, 'to'> & { why: string })[] = []
  let before = 0
  for (const rule of rules)
    for await (const item of itemsFor(parts, rule, scopes)) {
      const reason = reasonOf(rule)
      const { layer, scope, version, namespace, key } = item
      const what = { from: { layer, scope, version }, namespace, key, reason }
      const to = await targetOf(parts, rule, item)
      const outcome = to ? await promoteItem(parts, item, to, { reason, dryRun, callId }) : NO_PLACE
      if (outcome === 'before') before++
      else if (outcome === 'promoted') promoted.push({ ...what, to: to as MemoryScope })
      else kept.push({ ...what, why: outcome })
    }
  return { dryRun, promoted, before, kept }
}

async function* itemsFor(
  parts: WriteParts,
  { from, when }: PromotionRule,
  scopes: PromoteOptions['scopes'],
): AsyncGenerator<MemoryItem> {
  const condition: MemoryCondition = typeof when === 'function' ? {} : when
  const given = { layers: [from], scopes, namespaces: condition.namespaces, tags: condition.tags }
  const { index, filter } = await ask(parts, given)
  const rows = []
  for (let before: number | undefined; ; ) {
    const page = await index.list({ ...filter, order: 'newest', limit: PAGE, before })
    rows.push(...page)
    before = page.at(-1)?.position
    if (page.length < PAGE) break
  }
  const latest = parts.ports.now() - (condition.olderThanMs ?? 0)
  const fitting = rows.toReversed().filter((row) => Date.parse(row.updatedAt) <= latest)
  for (let at = 0; at < fitting.length; at += PAGE)
    for (const item of await toItems(parts, fitting.slice(at, at + PAGE)))
      if (typeof when !== 'function' || when(item)) yield item
}

async function promoteItem(
  parts: WriteParts,
  item: MemoryItem,
  to: MemoryScope,
  { reason, dryRun, callId }: { reason: string; dryRun: boolean; callId: string | undefined },
): Promise<'promoted' | 'before' | typeof NEWER> {
  const { namespace, key, value, tags, subjects, expiresAt, provenance, layer, scope, version } = item
  const place = await findPlace(parts, { ...to, namespace, key })
  const { memoryRun } = place
  const eventId = deriveId(parts.ports.sha256, memoryRun, 'promoted', provenance.eventId)
  const event: EventInput = {
    eventType: 'execution.memory_promoted',
    correlationId: memoryRun,
    eventId,
    causationId: provenance.eventId,
    source: { origin: 'system', runtime: 'clew' },
    payload: {
      layer: to.layer,
      namespace,
      key,
      value,
      ...(tags.length > 0 && { tags }),
      ...(expiresAt !== null && { expiresAt }),
      ...(subjects.length > 0 && { subjects }),
      ...(provenance.runId !== null && { runId: provenance.runId }),
      from: { layer, scope, version, eventId: provenance.eventId },
      reason,
      ...(callId !== undefined && { callId }),
    },
  }
  const own = await findOwn(parts, memoryRun, eventId)
  if (own) return callId !== undefined && own.payload.callId === callId ? 'promoted' : 'before'
  const source =
    (await parts.store.findEvents({ workspace: parts.workspace, ids: [provenance.eventId] }))[0]?.position ??
    0
  const isNewer = (row: { position: number } | undefined): boolean =>
    row !== undefined && row.position > source
  if (dryRun) return isNewer((await readRow(parts, place)).row) ? NEWER : 'promoted'
  try {
    return (await writeIf(parts, place, (row) => (isNewer(row) ? undefined : event))) ? 'promoted' : NEWER
  } catch (error) {
    // Two promotions ran concurrently by rules with different reasons: one of them succeeded.
    if (error instanceof ClewError && error.code === 'conflict') return 'before'
    throw error
  }
}

/** Scope of an item in a higher layer; undefined if neither the item nor its run determines it. */
async function targetOf(
  { store, workspace }: WriteParts,
  { to, scope = 'workspace' }: PromotionRule,
  item: MemoryItem,
): Promise<MemoryScope | undefined> {
  const find = async (runId: string | null): Promise<RunSummary | undefined> =>
    runId === null ? undefined : (await findRun(store, { workspace, runId }))?.summary
  if (to === 'session') {
    let run = await find(item.scope)
    while (run && run.threadId === null && run.parentRunId !== null) run = await find(run.parentRunId)
    return run?.threadId == null ? undefined : { layer: to, scope: run.threadId }
  }
  if (scope !== 'agent' && scope !== 'user') return { layer: to, scope }
  const run = await find(item.provenance.runId ?? (item.layer === 'short' ? item.scope : null))
  const name = scope === 'agent' ? run?.agent : (item.subjects[0] ?? run?.subjects[0])
  return name == null ? undefined : { layer: to, scope: `${scope}:${name}` }
}

function reasonOf({ reason, when, from, to }: PromotionRule): string {
  if (reason !== undefined) return reason
  if (typeof when === 'function') return `${from} to ${to}: ${when.name === '' ? 'a rule' : when.name}`
  const { namespaces, tags, olderThanMs } = when
  const parts = [
    ...(namespaces ? [`in ${namespaces.join(', ')}`] : []),
    ...(tags ? [`tagged ${tags.join(', ')}`] : []),
    ...(olderThanMs === undefined ? [] : [`unchanged for ${olderThanMs} ms`]),
  ]
  return `${from} to ${to}: ${parts.join(', ')}`
}
