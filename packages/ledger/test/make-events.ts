import type { ClewEvent } from '../src/event/envelope.ts'

/** Events of one run as a ledger would give them back, a tenth of a second apart. */
export function makeEvents(
  list: readonly (readonly [eventType: string, payload: Record<string, unknown>])[],
  runId = 'run-1',
): ClewEvent[] {
  return list.map(([eventType, payload], i) => {
    const at = new Date(1_800_000_000_000 + i * 100).toISOString()
    return {
      eventId: `0198f0aa-0000-7000-8000-${String(i).padStart(12, '0')}`,
      eventType,
      timestamp: at,
      source: { origin: 'agent', runtime: 'clew' },
      correlationId: runId,
      causationId: null,
      payload,
      ledger: { workspace: 'w', seq: i + 1, position: i + 1, recordedAt: at, hash: '', schemaVersion: 0 },
    }
  })
}
