import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import { type ClewEvent, ClewError, type Ledger } from '@clew/ledger'
import type { Logger } from 'pino'

/** Awaited, so that all listeners receive an event before any receives the next one. */
export type FeedListener = (event: ClewEvent) => void | Promise<void>

/** New commits of a workspace, read once for all listeners. */
export interface Feed {
  /** Resolves when the listener receives all later commits. Returns a function that stops it. */
  listen(listener: FeedListener): Promise<() => void>
  /** Position of the newest event that was sent or is being sent; 0 without listeners. */
  readonly position: number
  readonly listeners: number
}

const RETRY_MS = { least: 100, most: 5000 }
const BREATH = 100

/**
 * One follower of the ledger while there are listeners. A failing store makes it late, never wrong: it continues after the
 * last position that it sent.
 */
export function createFeed(ledger: Ledger, log: Logger): Feed {
  const listeners = new Set<FeedListener>()
  let following: Following | undefined

  async function tell(event: ClewEvent): Promise<void> {
    for (const listener of listeners) {
      try {
        const told = listener(event)
        if (told) await told
      } catch (error) {
        // A failing listener must not keep the event from the others.
        log.error({ err: error, position: event.ledger.position }, 'a listener of the ledger failed')
      }
    }
  }

  async function follow(own: Following): Promise<void> {
    const { signal } = own.stop
    let waitMs = RETRY_MS.least
    let told = 0
    while (!signal.aborted) {
      try {
        for await (const event of ledger.follow({ afterPosition: own.position, signal })) {
          // Set before sending: a new listener reads up to here and receives all later events.
          own.position = event.ledger.position
          await tell(event)
          waitMs = RETRY_MS.least
          // A long backlog must not keep sockets and requests waiting.
          if (++told % BREATH === 0) await breathe()
        }
        return
      } catch (error) {
        if (error instanceof ClewError && error.code === 'closed') return
        log.warn({ err: error, position: own.position }, 'following the ledger failed; it is tried again')
        await sleep(waitMs, undefined, { signal }).catch(() => undefined)
        waitMs = Math.min(waitMs * 2, RETRY_MS.most)
      }
    }
  }

  async function start(own: Omit<Following, 'started'>): Promise<void> {
    own.position = await ledger.lastPosition()
  }

  function begin(): Following {
    const own = { position: 0, stop: new AbortController() }
    const begun: Following = Object.assign(own, { started: start(own) })
    begun.started.then(
      () => follow(begun),
      // The waiting listeners get the error; the next one tries again.
      () => following === begun && (following = undefined),
    )
    return begun
  }

  function close(listener: FeedListener): void {
    if (!listeners.delete(listener) || listeners.size > 0) return
    following?.stop.abort()
    following = undefined
  }

  return {
    async listen(listener) {
      listeners.add(listener)
      following ??= begin()
      try {
        await following.started
      } catch (error) {
        close(listener)
        throw error
      }
      return () => close(listener)
    },
    get position() {
      return following?.position ?? 0
    },
    get listeners() {
      return listeners.size
    },
  }
}

interface Following {
  position: number
  readonly stop: AbortController
  readonly started: Promise<void>
}
