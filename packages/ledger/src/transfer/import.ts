import type { ClewEvent } from '../event/envelope.ts'
import type { Preparer } from '../append/prepare.ts'
import type { RemovalImport } from '../removal/import-removals.ts'
import { parseSeal } from '../retention/seal-lines.ts'
import type { PreparedEvent } from '../store/change.ts'
import { brokenLine, parseLine, splitLines } from './transfer.ts'

export interface ImportOptions {
  /** Store the events as new facts, redacted and hashed again, instead of keeping their hashes. */
  readonly rehash?: boolean | undefined
  readonly onProgress?: ((events: number) => void) | undefined
}

export interface ImportReport {
  readonly events: number
  /** Number of events that were already stored. */
  readonly passed: number
  readonly runs: number
}

interface ImportParts {
  readonly preparer: Preparer
  readonly push: (events: readonly PreparedEvent[]) => Promise<readonly ClewEvent[]>
  /** Place of the newest event before the import: what stands at it or before it was here already. */
  readonly lastPosition: number
  readonly removals: RemovalImport
  readonly followed: () => Promise<void> | undefined
}

const BATCH_EVENTS = 500
const BATCH_CHARS = 4 * 1024 * 1024

/**
 * L11. Events that are here already, with the same hash, are passed over, so an import that was cut short is
 * simply done again. Lines of one run that follow each other make one append: all or nothing.
 */
export async function importLines(
  stream: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  { preparer, push, lastPosition, removals, followed }: ImportParts,
  { rehash = false, onProgress }: ImportOptions,
): Promise<ImportReport> {
  const runs = new Set<string>()
  let batch: PreparedEvent[] = []
  let chars = 0
  let events = 0
  let passed = 0
  let line = 0

  async function flush(): Promise<void> {
    if (batch.length === 0) return
    const calls: PreparedEvent[][] = []
    for (const event of batch) {
      const last = calls.at(-1)
      if (last?.[0]?.correlationId === event.correlationId) last.push(event)
      else calls.push([event])
    }
    batch = []
    chars = 0
    const settled = await Promise.allSettled(calls.map((call) => push(call)))
    for (const outcome of settled) {
      if (outcome.status === 'rejected') throw outcome.reason as Error
      for (const event of outcome.value) {
        if (event.ledger.position <= lastPosition) passed++
        removals.note(event)
      }
    }
    events += calls.reduce((sum, call) => sum + call.length, 0)
    onProgress?.(events)
  }

  for await (const text of splitLines(stream)) {
    line++
    if (text.trim() === '') continue
    const seal = parseSeal(text)
    if (seal === null) throw brokenLine(line, 'is a broken seal')
    if (seal) {
      // New facts have a chain of their own, in which nothing is missing.
      if (rehash) continue
      await flush()
      await removals.adopt(seal)
      runs.add(seal.runId)
      continue
    }
    const following = followed()
    if (following) await following
    const event = parseLine(text, line, preparer, rehash)
    runs.add(event.correlationId)
    if (event.sealed && (await removals.isPruned(event.correlationId, event.sealed.seq))) {
      events++
      passed++
      continue
    }
    batch.push(event)
    chars += text.length
    if (batch.length >= BATCH_EVENTS || chars >= BATCH_CHARS) await flush()
  }
  await flush()
  await removals.end()
  return { events, passed, runs: runs.size }
}
