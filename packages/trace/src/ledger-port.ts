import type { Ledger } from '@clew/ledger'
import type { TracePort } from './port.ts'
import { takeSession } from './take-session.ts'

export function createLedgerPort(ledger: Ledger): TracePort {
  return {
    async append(events, epoch) {
      await ledger.append(events, { epoch })
    },
    progress: (notes) => ledger.progress.put(notes),
    clearProgress: (runId, stepId) => ledger.progress.clear(runId, stepId),
    take: (request) => takeSession(ledger, request),
    renew: (lease) => ledger.leases.renew(lease),
    release: (lease) => ledger.leases.release(lease),
  }
}
