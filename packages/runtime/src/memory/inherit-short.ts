import {
  ClewError,
  type ClewEvent,
  deriveId,
  type EventInput,
  foldMemory,
  type Ledger,
  memoryRunId,
  type MemoryRow,
  type RunSummary,
} from '@clew/ledger'
import { sha256 } from '../machine/run-appender.ts'

const bookOf = (runId: string): string => memoryRunId({ layer: 'short', scope: runId })

/**
 * A fork begins with what its source had in short memory there: its code is given the source's calls back, and asks for
 * what they wrote. Copied in one append when the fork first uses it; the source is untouched.
 */
export async function inheritShort(ledger: Ledger, run: RunSummary | null): Promise<void> {
  if (!run?.forkedFrom || (await ledger.getRun(bookOf(run.runId)))) return
  const book = bookOf(run.runId)
  const events = (await standingAt(ledger, run.forkedFrom)).map(
    ({ eventType: _, eventId, payload }): EventInput => ({
      eventType: 'execution.memory_written',
      correlationId: book,
      eventId: deriveId(sha256, book, 'inherited', eventId),
      causationId: eventId,
      source: { origin: 'system', runtime: 'clew' },
      payload,
    }),
  )
  try {
    await ledger.append(events, { expectedSeq: 0 })
  } catch (error) {
    // Two calls of the run came here at once: the other one has done it.
    if (!(error instanceof ClewError && error.code === 'wrong_seq')) throw error
  }
}

/** The events whose items stood in short memory when the run was at this seq. */
async function standingAt(
  ledger: Ledger,
  { runId, seq }: { readonly runId: string; readonly seq: number },
): Promise<ClewEvent[]> {
  let cut: number | undefined
  for await (const event of ledger.read(runId, { afterSeq: seq - 1, limit: 1 })) cut = event.ledger.position
  const rows = new Map<string, MemoryRow>()
  const events = new Map<number, ClewEvent>()
  for await (const event of ledger.read(bookOf(runId))) {
    if (cut === undefined || event.ledger.position > cut) break
    events.set(event.ledger.position, event)
    foldMemory(rows, event)
  }
  if (events.size > 0) return [...rows.values()].map((row) => events.get(row.position) as ClewEvent)
  // It had not used its own memory by then: what it had was that of its source.
  const before = (await ledger.getRun(runId))?.forkedFrom
  return before ? standingAt(ledger, { runId: before.runId, seq: Math.min(seq, before.seq) }) : []
}
