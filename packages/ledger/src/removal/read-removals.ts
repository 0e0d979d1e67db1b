import { AUDIT_RUN_ID } from '../append/audit-run.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { PruneMarker } from '../store/change.ts'
import { findRun } from '../store/find-runs.ts'
import type { Store } from '../store/store.ts'
import { parseRanges, type RemovedRange } from './removed-range.ts'

const PAGE = 200
const TYPES = ['system.payload_erased', 'system.range_pruned']

/** Key of a pruned range without its run id, which redaction may have changed. */
export const sealKey = ({ fromSeq, toSeq, headHash }: PruneMarker): string =>
  `${fromSeq} ${toSeq} ${headHash}`

/** All deletions that the audit run of a workspace records. */
export interface Removals {
  /** Seq of the audit run at the time of reading. */
  readonly seq: number
  readonly all: readonly RemovedRange[]
  /** Ranges of pruned events, by `sealKey`. */
  readonly seals: ReadonlyMap<string, RemovedRange>
  /** Ranges of payloads and states, by the hash of their last event. */
  readonly byHash: ReadonlyMap<string, readonly RemovedRange[]>
  readonly byRun: ReadonlyMap<string, readonly RemovedRange[]>
}

export async function readRemovals(
  store: Store,
  reader: PayloadReader,
  workspace: string,
): Promise<Removals> {
  const all: RemovedRange[] = []
  const seals = new Map<string, RemovedRange>()
  const byHash = new Map<string, RemovedRange[]>()
  const byRun = new Map<string, RemovedRange[]>()
  const key = { workspace, runId: AUDIT_RUN_ID }
  const seq = (await findRun(store, key))?.seq ?? 0
  for (let afterSeq = 0; ; ) {
    const page = await store.readRun(key, { afterSeq, upToSeq: seq, limit: PAGE, types: TYPES })
    for (const event of await reader.toPlainEvents(page))
      for (const range of parseRanges(event)) {
        all.push(range)
        if (range.kind === 'events') seals.set(sealKey(range), range)
        else push(byHash, range.headHash, range)
        if (range.runId !== null) push(byRun, range.runId, range)
      }
    if (page.length < PAGE) return { seq, all, seals, byHash, byRun }
    afterSeq = page.at(-1)?.seq ?? afterSeq
  }
}

function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const list = map.get(key)
  if (list) list.push(item)
  else map.set(key, [item])
}
