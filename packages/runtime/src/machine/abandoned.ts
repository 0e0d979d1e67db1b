/** Errors after which a run is left to another process: nothing more is written. */
const reasons = new WeakSet<object>()

/** Aborts in the same spirit whatever hangs on it: a child run of a parent whose store failed has not been stopped. */
export function abandonment(reason: unknown): Error {
  const error = reason instanceof Error ? reason : new Error(String(reason))
  reasons.add(error)
  return error
}

/** Also of an error that code made of one, with it as the cause. */
export function isAbandonment(reason: unknown): boolean {
  let at = reason
  while (typeof at === 'object' && at !== null) {
    if (reasons.has(at)) return true
    at = at instanceof Error ? at.cause : undefined
  }
  return false
}
