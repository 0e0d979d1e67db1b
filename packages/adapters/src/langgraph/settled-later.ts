/** Marks a rejection as handled: a later caller awaits it, and until then the process must not report it as unhandled. */
class HandledPromise<T> extends Promise<T> {
  // oxlint-disable-next-line no-thenable -- what is derived from it is to be handled as well
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const next = super.then(onFulfilled, onRejected)
    void super.then.call(next, undefined, () => undefined)
    return next
  }
}

/**
 * The framework collects what a saver gives back and awaits it when the invocation ends. A rejection in the meantime
 * would end the whole process, although the caller has the invocation in a try/catch.
 */
export function settledLater(work: Promise<unknown>, toError: (error: unknown) => unknown): Promise<void> {
  const handled = new HandledPromise<void>((resolve, reject) => {
    work.then(
      () => resolve(),
      (error: unknown) => reject(toError(error)),
    )
  })
  void Promise.prototype.then.call(handled, undefined, () => undefined)
  return handled
}
