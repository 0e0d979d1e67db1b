import type { ClewEvent } from '../event/envelope.ts'
import { catchUpMemory, type MemoryParts } from './catch-up-memory.ts'
import { checkNames, checkNamespace, checkScope } from './check-put.ts'
import type { MemoryFilter } from './ledger-memory.ts'
import { type MemoryItem, MEMORY_LAYERS, type MemoryRow, type MemoryScope, parseMemoryRunId } from './item.ts'
import type { MemoryIndex, RowFilter } from './memory-index.ts'
import { checkLayer } from './policy.ts'

/** Checks a query and returns it with an index that is up to date. */
export interface Asked {
  readonly index: MemoryIndex
  readonly filter: Omit<RowFilter, 'limit'>
}

export async function ask(parts: MemoryParts, given: MemoryFilter): Promise<Asked> {
  parts.assertOpen()
  const { spellings } = parts
  const layers = (given.layers ?? MEMORY_LAYERS).map((layer) => checkLayer(layer, 'layers'))
  const memoryRuns = given.scopes?.flatMap((scope) => spellings.memoryRuns(checkScope(scope)))
  const filter = {
    workspace: parts.workspace,
    layers,
    memoryRuns,
    namespaces: given.namespaces?.flatMap((each) => spellings.namespaces(checkNamespace(each))),
    tags: checkNames('tags', given.tags).map(spellings.tag),
    nowMs: parts.ports.now(),
  }
  return { index: await catchUpMemory(parts, { layers, memoryRuns }), filter }
}

/** The items of rows, with their values; one whose payload was erased meanwhile is not there any more. */
export async function toItems(
  { store, reader, workspace }: MemoryParts,
  rows: readonly MemoryRow[],
): Promise<MemoryItem[]> {
  const stored = await store.findEvents({ workspace, positions: rows.map((row) => row.position) })
  const events = new Map<number, ClewEvent>()
  for (const event of await reader.toEvents(stored)) events.set(event.ledger.position, event)
  return rows.flatMap((row) => {
    const event = events.get(row.position)
    return event && !event.ledger.erased ? [toItem(row, event.payload.value ?? null)] : []
  })
}

export function toItem(row: MemoryRow, value: unknown): MemoryItem {
  const { layer, scope } = parseMemoryRunId(row.memoryRun) as MemoryScope
  return {
    layer,
    scope,
    namespace: row.namespace,
    key: row.key,
    value,
    tags: row.tags,
    version: row.seq,
    provenance: { eventId: row.eventId, runId: row.runId },
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    expiresAt: row.expiresAt,
    subjects: row.subjects,
  }
}
