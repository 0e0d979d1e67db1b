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

const shortMemoryRunId = (runId: string): string => memoryRunId({ layer: 'short', scope: runId })

/**
 * Copies the short memory of a fork's source, as it was at the fork point, in one append when the fork first uses its
 * memory: the fork gets the source's recorded calls back and reads what they wrote. The source is untouched.
 */
export async function inheritShort(ledger: Ledger, run: RunSummary | null): Promise<void> {
  if (!run?.forkedFrom || (await ledger.getRun(shortMemoryRunId(run.runId)))) return
  const memoryRun = shortMemoryRunId(run.runId)
  const events = (await standingAt(ledger, run.forkedFrom)).map(
    ({ eventType: _, eventId, payload }): EventInput => ({
      eventType: 'execution.memory_written',
      correlationId: memoryRun,
      eventId: deriveId(sha256, memoryRun, 'inherited', eventId),
      causationId: eventId,
      source: { origin: 'system', runtime: 'clew' },
      payload,
    }),
  )
  try {
    await ledger.append(events, { expectedSeq: 0 })
  } catch (error) {
    // A concurrent call of the run has copied it.
    if (!(error instanceof ClewError && error.code === 'wrong_seq')) throw error
  }
}

/** Events of the items that were in short memory when the run was at this seq. */
async function standingAt(
  ledger: Ledger,
  { runId, seq }: { readonly runId: string; readonly seq: number },
): Promise<ClewEvent[]> {
  let cut: number | undefined
  for await (const event of ledger.read(runId, { afterSeq: seq - 1, limit: 1 })) cut = event.ledger.position
  const rows = new Map<string, MemoryRow>()
  const events = new Map<number, ClewEvent>()
  for await (const event of ledger.read(shortMemoryRunId(runId))) {
    if (cut === undefined || event.ledger.position > cut) break
    events.set(event.ledger.position, event)
    foldMemory(rows, event)
  }
  if (events.size > 0) return [...rows.values()].map((row) => events.get(row.position) as ClewEvent)
  // The run had not used its own memory by then: it still had that of its source.
  const before = (await ledger.getRun(runId))?.forkedFrom
  return before ? standingAt(ledger, { runId: before.runId, seq: Math.min(seq, before.seq) }) : []
}
