import type { ClewEvent } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import type { FollowOptions } from '../ledger.ts'
import type { PayloadReader } from './payload-reader.ts'
import type { RunReader } from './run-reader.ts'
import type { Store, StoredEvent } from '../store/store.ts'

interface FollowParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly workspace: string
  readonly runs: RunReader
  readonly isClosed: () => boolean
}

const PAGE = 500

/**
 * L7. A wake-up carries no data: it is only taken as a sign to read on from where the reader stands, so a lost
 * or doubled one does no harm. Nothing is queued for a slow reader, so it costs writers nothing.
 */
export async function* followEvents(parts: FollowParts, options: FollowOptions): AsyncGenerator<ClewEvent> {
  const { store, reader, isClosed } = parts
  const { signal, live } = options
  const notifier = createNotifier()
  const unwatch = store.watch(notifier.notify)
  signal?.addEventListener('abort', notifier.notify)
  const nextPages =
    options.runId === undefined ? byPosition(parts, options) : byRun(parts, options, options.runId)
  try {
    while (!signal?.aborted && !isClosed()) {
      const notified = notifier.wait()
      for await (const page of nextPages()) {
        for (const event of await reader.toEvents(page)) {
          if (signal?.aborted) return
          yield event
        }
      }
      if (live === false) return
      await notified
    }
  } catch (error) {
    // Closing the ledger ends its followers; anything else is theirs to know.
    if (!(error instanceof ClewError && error.code === 'closed' && isClosed())) throw error
  } finally {
    unwatch()
    signal?.removeEventListener('abort', notifier.notify)
  }
}

function byPosition({ store, workspace }: FollowParts, { afterPosition = 0, types }: FollowOptions) {
  let position = afterPosition
  return async function* (): AsyncGenerator<StoredEvent[]> {
    for (;;) {
      const page = await store.readAll({ workspace, afterPosition: position, limit: PAGE, types })
      if (page.length === 0) return
      position = page.at(-1)?.position ?? position
      yield page
    }
  }
}

function byRun({ runs }: FollowParts, { afterPosition = 0, types }: FollowOptions, runId: string) {
  let seq = 0
  return async function* (): AsyncGenerator<StoredEvent[]> {
    for await (const page of runs.events(runId, { afterSeq: seq, types })) {
      seq = page.at(-1)?.seq ?? seq
      yield page.filter((event) => event.position > afterPosition)
    }
  }
}

/** Call `wait` before reading and await its promise after: a notification during the read resolves it, so none is missed. */
export function createNotifier(): { notify: () => void; wait: () => Promise<void> } {
  let waiting: (() => void) | undefined
  return {
    notify: () => waiting?.(),
    wait: () => new Promise((resolve) => (waiting = resolve)),
  }
}
