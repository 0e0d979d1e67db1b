import { deriveId, inputDigest, type JsonValue, type Ledger } from '@clew/ledger'
import { type StepError, toStepError } from '../run/run.ts'
import type { MachineOptions } from './machine-types.ts'
import { isUnstorable, type RunAppender, sha256 } from './run-appender.ts'
import type { Scope } from './scope.ts'
import type { CallSpec, Step } from './step.ts'

/** Digest of a call's input. A value that cannot be stored fails the step with the value's path, before anything runs. */
export function digestOf(
  ledger: Ledger | undefined,
  scope: Scope,
  spec: CallSpec,
  stepId: string,
): { readonly digest: string; readonly cacheKey: string; readonly refused: StepError | undefined } {
  // Without a ledger the digest only shows whether another attempt of a body makes the same call.
  if (!ledger) return { digest: scope.isRetried ? plainDigest(spec) : '', cacheKey: '', refused: undefined }
  try {
    const digest = spec.digest ? spec.digest() : ledger.digest(spec.input ?? null)
    const cacheKey = spec.cacheTtlMs === undefined ? '' : ledger.keyedDigest(spec.input ?? null)
    return { digest, cacheKey, refused: undefined }
  } catch (error) {
    if (!isUnstorable(error)) throw error
    return { digest: '', cacheKey: '', refused: toStepError(error, stepId) }
  }
}

function plainDigest({ digest, input }: CallSpec): string {
  try {
    return digest ? digest() : inputDigest(sha256, (input ?? null) as JsonValue)
  } catch {
    // A value without canonical text equals no other.
    return `${Math.random()}`
  }
}

/**
 * The same for each attempt of a call, of the child run around it too, another one for another input. The digest of a call that the record has is the
 * recorded one, so the key does not change with redaction rules.
 */
export const idempotencyKeyOf = (
  journal: RunAppender | undefined,
  { seed, earlierWrites }: Pick<MachineOptions, 'seed' | 'earlierWrites'>,
  { stepId, digest }: Step,
): string => {
  if (!journal) return sha256(`${seed} ${stepId}`).slice(0, 32)
  return earlierWrites
    ? deriveId(sha256, earlierWrites.firstRunId, 'effect', stepId, digest)
    : journal.idOf('effect', stepId, digest)
}
