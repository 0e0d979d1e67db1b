import type { ClewEvent, Payload } from '../event/envelope.ts'

/** One event of a made-up history; what is left out has a sensible value. */
export interface EventFixture {
  readonly type: string
  readonly payload?: Payload
  readonly id?: number
  readonly cause?: number | null
  readonly atMs?: number
  readonly origin?: ClewEvent['source']['origin']
  readonly erased?: boolean
}

const eventIdOf = (id: number): string => `0198f0aa-0000-7000-8000-${String(id).padStart(12, '0')}`

/** Events as a ledger would give them back, for tests and measurements of folds. */
export function buildEvents(happenings: readonly EventFixture[], runId = 'run-1'): ClewEvent[] {
  return happenings.map(({ type, payload = {}, id, cause = null, atMs, origin = 'agent', erased }, at) => {
    const timestamp = new Date(1_800_000_000_000 + (atMs ?? at * 100)).toISOString()
    const place = { workspace: 'w', seq: at + 1, position: at + 1, recordedAt: timestamp, hash: '' }
    return {
      eventId: eventIdOf(id ?? at),
      eventType: type,
      timestamp,
      source: { origin, runtime: 'clew' },
      correlationId: runId,
      causationId: cause === null ? null : eventIdOf(cause),
      payload: erased === true ? {} : payload,
      ledger: { ...place, schemaVersion: 0, ...(erased === true && { erased: true as const }) },
    }
  })
}
