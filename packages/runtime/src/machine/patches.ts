import { type ClewEvent, createDeriver } from '@clew/ledger'
import { clockKey, type RunRecord } from './record.ts'
import { sha256 } from './run-appender.ts'
import type { Scope } from './scope.ts'

const TYPE = 'execution.decision'

/** Ids of the event that records that a scope takes the new way: one per scope, attempt and patch (W6). */
export const patchIds = ({ path, attempt }: Scope, id: string): readonly (string | number)[] => [
  'patched',
  path,
  attempt,
  id,
]

export const patchPayload = ({ path }: Scope, id: string): Record<string, string> => ({
  choice: 'patched',
  patch: id,
  ...(path !== '' && { stepId: path }),
})

/** Whether an event is such a decision, which only its derived id shows. */
export const mayBePatch = ({ eventType, payload }: ClewEvent): boolean =>
  eventType === TYPE && typeof payload['patch'] === 'string'

/**
 * Which way the code of a scope takes. The record says it if it has the decision; without it the old way counts where the
 * record shows that the code went past this point, and else the new one.
 */
export function patchIn(record: RunRecord | undefined, scope: Scope, id: string): 'recorded' | 'old' | 'new' {
  if (!record) return 'new'
  const isIt = ({ eventId, correlationId }: ClewEvent): boolean =>
    eventId === createDeriver(sha256, correlationId)(TYPE, ...patchIds(scope, id))
  if (record.patches.some(isIt)) return 'recorded'
  return hasPassed(record, scope) ? 'old' : 'new'
}

/** The code of the scope did something after the point at which it is now: called, said, or ended. */
function hasPassed(record: RunRecord, { path, attempt, statements, step }: Scope): boolean {
  if (record.scopeOf(path, attempt)?.calls.some((call) => !call.step)) return true
  if ((record.statements.get(clockKey(path, attempt))?.length ?? 0) > statements) return true
  if (!step) return record.end !== undefined
  return (
    step.recorded?.attempts.some((tried) => tried.attempt === attempt && tried.end !== undefined) === true
  )
}
