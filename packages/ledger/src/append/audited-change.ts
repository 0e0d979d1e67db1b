import { AUDIT_RUN_ID } from './audit-run.ts'
import { checkInput, type ClewEvent, type EventInput } from '../event/envelope.ts'
import type { Preparer } from './prepare.ts'
import type { StoreCore } from '../store/store.ts'
import type { StoreChange } from '../store/change.ts'

interface AuditParts {
  readonly store: Pick<StoreCore, 'write'>
  readonly preparer: Preparer
  readonly workspace: string
}

/**
 * Writes a change in one transaction with the event of the audit run that records it. `moved` names runs that are not
 * as expected: then nothing was written. The audit run is among them if it is no longer at `expectedSeq`, the seq at
 * which holds were read.
 */
export async function writeAudited(
  { store, preparer, workspace }: AuditParts,
  audit: EventInput,
  expectedSeq: number,
  change: Omit<StoreChange, 'calls'>,
): Promise<{ readonly event: ClewEvent; readonly tookMs: number } | { readonly moved: readonly string[] }> {
  const events = [preparer.prepare(checkInput(audit))]
  const written = await store.write({ ...change, calls: [{ workspace, events, expectedSeq }] })
  if ('moved' in written) return written
  const [outcome] = written.outcomes
  if (outcome && 'events' in outcome) return { event: outcome.events[0] as ClewEvent, tookMs: written.tookMs }
  if (outcome?.error.code === 'wrong_seq') return { moved: [AUDIT_RUN_ID] }
  throw outcome?.error
}
