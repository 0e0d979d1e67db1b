import type { Ledger } from '@clew/ledger'
import { findStops } from './find-stops.ts'
import type { TracePort } from './port.ts'
import { takeSession } from './take-session.ts'

export function createLedgerPort(ledger: Ledger): TracePort {
  let lookedAt = -1
  return {
    async append(events, epoch) {
      await ledger.append(events, { epoch })
    },
    progress: (notes) => ledger.progress.put(notes),
    clearProgress: (runId, stepId) => ledger.progress.clear(runId, stepId),
    take: (request) => takeSession(ledger, request),
    renew: (lease) => ledger.leases.renew(lease),
    release: (lease) => ledger.leases.release(lease),
    lookMs: 200,
    async findStops(sessionIds) {
      const [position, newest] = await Promise.all([ledger.lastPosition(), ledger.newestPosition()])
      // While transactions are under way, which of them end does not show in either.
      if (position === lookedAt && position === newest) return []
      const stops = await findStops(ledger, sessionIds)
      lookedAt = position
      return stops
    },
  }
}
