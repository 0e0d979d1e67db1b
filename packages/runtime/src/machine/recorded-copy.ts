import type { Ledger } from '@clew/ledger'
import { isUnstorable } from './run-appender.ts'
import type { CallSpec, Completed, Work } from './step.ts'

/**
 * A value as it stands in the record at this moment, whatever happens to the original later. What cannot be stored stays as
 * it is: it is refused when it is recorded. Without a ledger nothing is recorded, and code shares its own objects.
 */
export function recordedCopy<T>(ledger: Ledger | undefined, value: T): T {
  if (!ledger || typeof value !== 'object' || value === null) return value
  try {
    return ledger.recordedCopy(value)
  } catch (error) {
    if (!isUnstorable(error)) throw error
    return value
  }
}

/** True for a graph's own calls: their results are frozen and passed to the graph. */
export const isOfGraph = (work: Work): boolean => 'conclude' in work && work.conclude !== undefined

/** Copy of a call's end for one receiver, whose changes no other receiver sees. */
export const copyEnd = (ledger: Ledger | undefined, { work }: CallSpec, end: Completed): Completed =>
  isOfGraph(work) || typeof end.output !== 'object' || end.output === null
    ? end
    : { ...end, output: recordedCopy(ledger, end.output) }

/** The input as the function of one attempt gets it. */
export const copyInput = (ledger: Ledger | undefined, { input, isInputKept }: CallSpec): unknown =>
  isInputKept ? recordedCopy(ledger, input) : input
