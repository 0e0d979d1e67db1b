import { ClewError } from '../errors.ts'

/** In a batch, the answer says which item (E4). */
export function atItem<T>(count: number, item: number, work: () => T): T {
  if (count === 1) return work()
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof ClewError)) throw cause
    const message = cause.message.slice(0, -cause.hint.length - 2)
    throw new ClewError(
      cause.code,
      `Item ${item} of the batch: ${message}`,
      cause.hint,
      { ...cause.fields, item },
      cause,
    )
  }
}
