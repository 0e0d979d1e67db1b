import { ClewError, formatStepId, type Ledger } from '@clew/ledger'
import type { Scope } from './scope.ts'
import type { CallSpec } from './step.ts'

type Named = Pick<CallSpec, 'name' | 'key' | 'stepId' | 'startFields'>
type NamingLedger = Pick<Ledger, 'redactor' | 'identity'>

/**
 * The id of a call: its name with the caller's key, or with how many calls of that name came before it in the scope. Where
 * redaction changes a name or a key, the id has its `id-` form. An id that the record has wins: rules may have been others
 * when it was made. Names of nodes and their keys are no one's secret.
 */
export function nameCall(
  scope: Scope,
  { name, key, stepId: made, startFields }: Named,
  ledger: NamingLedger | undefined,
  isRecorded: ((stepId: string) => boolean) | undefined,
): { readonly stepId: string; readonly ordinal: number } {
  if (made !== undefined) return { stepId: made, ordinal: 0 }
  const ordinal = key === undefined ? (scope.ordinals.get(name) ?? 0) : 0
  if (key === undefined) scope.ordinals.set(name, ordinal + 1)
  const format = (spelled: string, spelledKey: string | undefined): string =>
    formatStepId({ parentStepId: scope.path || null, name: spelled, key: spelledKey, ordinal })
  if (!ledger || startFields) return { stepId: format(name, key), ordinal }
  const stored = storedId(ledger, format, name, key)
  const recorded =
    !isRecorded || isRecorded(stored) ? undefined : spellings(ledger, format, name, key).find(isRecorded)
  const stepId = recorded ?? stored
  if (key !== undefined) claimKey(scope, stepId, name, ledger.identity(key).stored)
  return { stepId, ordinal }
}

type Format = (name: string, key: string | undefined) => string

/** As the ledger stores it without changing it: redaction may find something in the whole that it does not find in its parts. */
function storedId(
  { redactor, identity }: NamingLedger,
  format: Format,
  name: string,
  key: string | undefined,
): string {
  const isKept = (stepId: string): boolean => redactor.value({ stepId }).redacted === 0
  const stored = format(identity(name).stored, key && identity(key).stored)
  if (isKept(stored)) return stored
  const hidden = format(hide(identity, name), key && hide(identity, key))
  return isKept(hidden) ? hidden : hide(identity, stored)
}

const hide = (identity: Ledger['identity'], name: string): string => identity(name).names.at(-1) as string

/** Ids that the record may have instead; the last one is that of earlier versions of Clew. */
function* spellings(
  { redactor, identity }: NamingLedger,
  format: Format,
  name: string,
  key: string | undefined,
): Generator<string> {
  const keys = key === undefined ? [undefined] : identity(key).names
  for (const spelled of identity(name).names)
    for (const spelledKey of keys) {
      const stepId = format(spelled, spelledKey)
      yield stepId
      yield hide(identity, stepId)
    }
  yield redactor.text(format(redactor.text(name), key && redactor.text(key)))
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
