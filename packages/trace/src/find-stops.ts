import { findStopRequest, type Ledger } from '@clew/ledger'
import type { SessionStop } from './port.ts'

/** Which of these sessions have a stop request, and why. A server answers `/v1/leases/stops` with it. */
export async function findStops(ledger: Ledger, sessionIds: readonly string[]): Promise<SessionStop[]> {
  const stops: SessionStop[] = []
  for (const sessionId of sessionIds) {
    const run = await ledger.getRun(sessionId)
    const request = run && (await findStopRequest(ledger, run))
    if (request) stops.push({ sessionId, reason: request.reason, by: request.by })
  }
  return stops
}
