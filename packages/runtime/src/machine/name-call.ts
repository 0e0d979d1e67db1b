import { ClewError, formatStepId, type Ledger } from '@clew/ledger'
import type { Scope } from './scope.ts'
import type { CallSpec } from './step.ts'

/**
 * The id of a call: its name with the caller's key, or with how many calls of that name came before it in the scope. It is
 * redacted here as the ledger would do it, or a resume would look for another id than the record has. Names of nodes
 * and their keys are no one's secret.
 */
export function nameCall(
  scope: Scope,
  { name, key, stepId: made, startFields }: Pick<CallSpec, 'name' | 'key' | 'stepId' | 'startFields'>,
  ledger: Pick<Ledger, 'redactor'> | undefined,
): { readonly stepId: string; readonly ordinal: number } {
  if (made !== undefined) return { stepId: made, ordinal: 0 }
  const ordinal = key === undefined ? (scope.ordinals.get(name) ?? 0) : 0
  if (key === undefined) scope.ordinals.set(name, ordinal + 1)
  const parentStepId = scope.path || null
  const redactor = startFields ? undefined : ledger?.redactor
  const stepId = redactor
    ? redactor.text(
        formatStepId({
          parentStepId,
          name: redactor.text(name),
          key: key && redactor.text(key),
          ordinal,
        }),
      )
    : formatStepId({ parentStepId, name, key, ordinal })
  // Those of a graph's own calls have the superstep in them.
  if (key !== undefined && !startFields) claimKey(scope, stepId, name, key)
  return { stepId, ordinal }
}

function claimKey(scope: Scope, stepId: string, name: string, key: string): void {
  scope.keys ??= new Set()
  if (scope.keys.has(stepId))
    throw new ClewError(
      'bad_option',
      `The key ${key.slice(0, 80)} names two calls of ${name}`,
      'Give each call a key of its own, or leave keys out and let calls be counted.',
      { name, key: key.slice(0, 80) },
    )
  scope.keys.add(stepId)
}
