import { findRun } from '../store/find-runs.ts'
import type { ClewEvent, EventInput } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import { isoText } from '../event/iso-text.ts'
import type { Ledger } from '../ledger.ts'
import { catchUpMemory, type MemoryParts } from './catch-up-memory.ts'
import { isExpired } from './fold.ts'
import { namedIn } from './memory-index.ts'
import { MEMORY_LAYERS, type MemoryRow, type MemoryScope } from './item.ts'
import type { MemoryReceipt } from './ledger-memory.ts'
import type { RowName } from './memory-index.ts'

export interface WriteParts extends MemoryParts {
  readonly append: Ledger['append']
}

/** Attempts before a conflict is reported: another process wrote into the scope each time. */
const MAX_TRIES = 100

export interface ItemPlace extends MemoryScope, RowName {
  readonly memoryRun: string
  /** Forms in which events may record the item's scope and name. */
  readonly memoryRuns: readonly string[]
  readonly names: readonly RowName[]
}

/** Resolves the memory run and stored name of an item. An existing memory run of the scope is used, whichever form of the name it has. */
export async function findPlace(
  { store, spellings, workspace, assertOpen }: MemoryParts,
  { layer, scope, namespace, key }: MemoryScope & RowName,
): Promise<ItemPlace> {
  assertOpen()
  const name = { namespace, key }
  const memoryRuns = spellings.memoryRuns({ layer, scope })
  let memoryRun = memoryRuns[0] as string
  if (memoryRuns.length > 1 && !(await findRun(store, { workspace, runId: memoryRun })))
    for (const other of memoryRuns.slice(1))
      if (await findRun(store, { workspace, runId: other })) memoryRun = other
  return { layer, scope, memoryRun, memoryRuns, ...spellings.stored(name), names: spellings.names(name) }
}

/** Seqs of rows of the item under other forms of its name than the one that is written now. */
export async function otherSeqs(
  { store, workspace }: MemoryParts,
  { memoryRun, namespace, key, names }: ItemPlace,
): Promise<number[]> {
  const others = names.filter((name) => name.namespace !== namespace || name.key !== key)
  return (await store.memory.list(namedIn(workspace, [memoryRun], others))).map(({ seq }) => seq)
}

/** The row of a name as it stands, and the seq at which it was read; expired is as good as not there. */
export async function readRow(
  parts: MemoryParts,
  { memoryRun, memoryRuns, names }: ItemPlace,
): Promise<{ row: MemoryRow | undefined; others: MemoryRow[]; seq: number }> {
  const { store, ports, workspace } = parts
  const seq = (await findRun(store, { workspace, runId: memoryRun }))?.seq ?? 0
  const index = await catchUpMemory(parts, { memoryRuns, layers: MEMORY_LAYERS })
  const rows = await index.list(namedIn(workspace, memoryRuns, names))
  const [row, ...others] = rows.sort((a, b) => b.position - a.position)
  return { row: row && !isExpired(row, isoText(ports.now())) ? row : undefined, others, seq }
}

/** The event of an earlier attempt at the same write. */
export async function findOwn(
  { store, reader, workspace }: MemoryParts,
  memoryRun: string,
  eventId: string | undefined,
): Promise<ClewEvent | undefined> {
  if (eventId === undefined) return undefined
  const stored = await store.findEvents({ workspace, ids: [eventId] })
  const [event] = await reader.toEvents(stored.filter((each) => each.correlationId === memoryRun))
  return event
}

/** Appends what `decide` makes of the row as it stands, and only if it still stands so; undefined when it makes nothing. */
export async function writeIf(
  parts: WriteParts,
  place: ItemPlace,
  decide: (row: MemoryRow | undefined) => Promise<EventInput | undefined> | EventInput | undefined,
): Promise<ClewEvent | undefined> {
  for (let tries = 1; ; tries++) {
    const { row, seq } = await readRow(parts, place)
    const event = await decide(row)
    if (!event) return undefined
    try {
      const [written] = await parts.append([event], { expectedSeq: seq })
      return written
    } catch (error) {
      if (!(error instanceof ClewError && error.code === 'wrong_seq') || tries >= MAX_TRIES) throw error
    }
  }
}

export function assertVersion(
  row: MemoryRow | undefined,
  ifVersion: number | undefined,
  place: ItemPlace,
): void {
  const version = row?.seq ?? 0
  if (ifVersion === undefined || version === ifVersion) return
  throw new ClewError(
    'conflict',
    `The item ${place.namespace}/${place.key} has ${row ? `version ${version}` : 'no version, for it is not there'}, not ${ifVersion}`,
    'Read it again and decide anew; nothing was written.',
    { namespace: place.namespace, key: place.key, version, ifVersion },
  )
}

export function toReceipt(
  { layer, scope }: MemoryScope,
  { eventId, payload: { namespace, key, expiresAt }, ledger }: ClewEvent,
): MemoryReceipt {
  return {
    layer,
    scope,
    namespace: String(namespace),
    key: String(key),
    version: ledger.seq,
    eventId,
    writtenAt: ledger.recordedAt,
    expiresAt: typeof expiresAt === 'string' ? expiresAt : null,
  }
}
