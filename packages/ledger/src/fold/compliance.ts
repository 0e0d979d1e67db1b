import { asErasable } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { detailOf, targetOf } from './audit.ts'
import { isErased, whoOf } from './fields.ts'
import type { Fold } from './fold.ts'

/** Administrative events: what was done to the record itself, wherever in the workspace it was recorded. */
export const COMPLIANCE_TYPES = [
  'system.access',
  'system.policy_changed',
  'system.payload_erased',
  'system.range_pruned',
] as const

export interface ComplianceEntry {
  readonly position: number
  readonly seq: number
  readonly eventId: string
  /** The ledger's clock: that of a producer proves nothing here. */
  readonly at: string
  /** The run it was recorded in. */
  readonly runId: string
  readonly who: string
  /** `erased`, `pruned`, `policy_changed`, or what `system.access` names: `read`, `export`, `hold`, … */
  readonly action: string
  readonly target: string | null
  readonly detail: string | null
  readonly erased: boolean
}

/** V8: who changed, erased, held or exported what. */
export interface ComplianceLog {
  readonly entries: readonly ComplianceEntry[]
}

const ACTIONS: Readonly<Record<string, string>> = {
  'system.policy_changed': 'policy_changed',
  'system.payload_erased': 'erased',
  'system.range_pruned': 'pruned',
}

/** Its state is a list that grows in place; a view copies it. */
export const complianceFold: Fold<ComplianceEntry[], ComplianceLog> = {
  name: 'compliance',
  version: 1,
  begin: () => [],
  apply(entries, event) {
    const entry = toComplianceEntry(event)
    if (entry) entries.push(entry)
    return entries
  },
  view: (entries) => ({ entries: [...entries] }),
}

function toComplianceEntry(event: ClewEvent): ComplianceEntry | undefined {
  const { eventType, eventId, correlationId, ledger } = event
  const own = asErasable(event)
  if (!own || !(COMPLIANCE_TYPES as readonly string[]).includes(eventType)) return undefined
  const access = own.eventType === 'system.access' ? own.payload : undefined
  return {
    position: ledger.position,
    seq: ledger.seq,
    eventId,
    at: ledger.recordedAt,
    runId: correlationId,
    who: whoOf(event),
    action: ACTIONS[eventType] ?? access?.action ?? 'accessed',
    target: targetOf(own),
    detail: access ? (access.reason ?? null) : detailOf(own),
    erased: isErased(event),
  }
}
