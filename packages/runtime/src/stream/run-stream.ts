import { ClewError } from '@clew/ledger'

/**
 * Stream of a working run, in order. It is read once: by `for await`, whose end is the end of the run, or by `next()`.
 * Items wait in memory until they are read, without a limit: a slow reader loses nothing and delays no commit. Leaving
 * the loop early stops the run.
 */
export interface RunStream<Item, Result> extends AsyncIterableIterator<Item, Result, void> {
  /** Result of the run, also if the items are not read; rejects if the run could not start or continue. */
  readonly result: Promise<Result>
  /** Stops the run; earlier items can still be read. */
  stop(reason?: string): Promise<Result>
  return(): Promise<IteratorResult<Item, Result>>
}

const LET_GO_AT = 1024

type Begin<Item, Result> = (tell: (item: Item) => void, signal: AbortSignal) => Promise<Result>

/** Starts at once; `begin` emits items until it resolves. */
export function openStream<Item, Result>(
  begin: Begin<Item, Result>,
  signal: AbortSignal | undefined,
): RunStream<Item, Result> {
  const items: Item[] = []
  const leaving = new AbortController()
  let read = 0
  let isOver = false
  let isLeft = false
  let wake = (): void => {}

  function tell(item: Item): void {
    if (isLeft) return
    items.push(item)
    wake()
  }

  const result = begin(tell, signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal).finally(
    () => {
      isOver = true
      wake()
    },
  )
  // Readers of the items get the error there; without a reader it must not end the process.
  result.catch(() => {})

  function take(): Item {
    const item = items[read++] as Item
    // Read items are let go from time to time: shifting a long list each time is slow.
    if (read === LET_GO_AT) {
      items.splice(0, read)
      read = 0
    }
    return item
  }

  async function next(): Promise<IteratorResult<Item, Result>> {
    for (;;) {
      if (read < items.length) return { done: false, value: take() }
      if (isOver || isLeft) return { done: true, value: await result }
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  function stop(reason = 'the reader of its stream left'): Promise<Result> {
    leaving.abort(new ClewError('stopped', `The run is stopped: ${reason}`, 'Resume or fork it.', { reason }))
    return result
  }

  return {
    result,
    next,
    stop,
    async return() {
      isLeft = true
      items.length = 0
      read = 0
      wake()
      return { done: true, value: await stop() }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
