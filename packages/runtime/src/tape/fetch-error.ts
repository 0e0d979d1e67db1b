import { StepError } from '../run/run.ts'

/** Recorded form of an error of `fetch` or a body: the cause is part of the message, and its code is the code. */
export function toFetchError(thrown: unknown): StepError {
  if (!(thrown instanceof Error)) return new StepError({ message: String(thrown) }, null, thrown)
  const { name, message, cause } = thrown
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : Reflect.get(thrown, 'code')
  const why = cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message
  return new StepError({ name, message: why, ...(typeof code === 'string' && { code }) }, null, thrown)
}

const WITH_CAUSE = /^(fetch failed|terminated): (.*)$/s

/**
 * The error as `fetch` gives it: libraries tell aborts, time-outs and lost connections apart by what is thrown, its name and
 * its cause. What the code itself aborted with is the very thing it gave.
 */
export function fromFetchError(
  { name, code, message }: ReturnType<StepError['toJSON']>,
  signal: AbortSignal | undefined,
): unknown {
  const reason: unknown = signal?.reason
  if (signal?.aborted === true && toFetchError(reason).message === message) return reason
  if (name === 'AbortError' || name === 'TimeoutError') return new DOMException(message, name)
  if (name !== 'TypeError') return new StepError({ name, code, message }, null)
  const [, what = message, why] = WITH_CAUSE.exec(message) ?? []
  const cause = why === undefined ? undefined : Object.assign(new Error(why), code !== 'thrown' && { code })
  return new TypeError(what, cause && { cause })
}
