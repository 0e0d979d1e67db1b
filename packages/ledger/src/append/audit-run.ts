import { systemRunId } from '../event/system-run.ts'
import type { PayloadOf, RecordInput } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import type { COMPLIANCE_TYPES } from '../fold/compliance.ts'
import type { Ledger } from '../ledger.ts'

/** System run of a workspace that records administrative actions; `ledger.compliance` is its fold (V8). */
export const AUDIT_RUN_ID = systemRunId('audit')

export type AuditType = (typeof COMPLIANCE_TYPES)[number]

/** Event of an administrative action, written in one change with the action. It records actor, reason and amount, never the content. */
export const auditEvent = <T extends AuditType>(
  eventType: T,
  payload: PayloadOf<T>,
  eventId?: string,
): RecordInput<T> =>
  ({
    eventType,
    correlationId: AUDIT_RUN_ID,
    source: { origin: 'system', runtime: 'clew' },
    payload,
    ...(eventId !== undefined && { eventId }),
  }) as RecordInput<T>

export const recordAudit = <T extends AuditType>(
  ledger: Pick<Ledger, 'record'>,
  eventType: T,
  payload: PayloadOf<T>,
): Promise<ClewEvent> => ledger.record(auditEvent(eventType, payload))
