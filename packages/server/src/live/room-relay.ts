import { setTimeout as sleep } from 'node:timers/promises'
import { ClewError, type ClewEvent, type Ledger, type ProgressNote } from '@clew/ledger'
import { createRelay, type RoomMessage, type RoomAddress, STEP_PROGRESS } from '@clew/trace'
import type { Logger } from 'pino'
import type { Feed } from './feed.ts'
import { readRunning } from './read-running.ts'
import type { Tell } from './socket-rooms.ts'
import type { RoomBroadcaster } from './room-broadcaster.ts'
import { watchProgress } from './watch-progress.ts'

/** Sends commits and step results of one workspace to rooms. */
export interface RoomRelay {
  /** Resolves when all later commits are sent. Returns a function that stops it. */
  hold(): Promise<() => void>
  /** Running state, for clients that join. */
  catchUp(address: RoomAddress, tell: Tell): Promise<void>
}

/** The store may answer again. */
const PASSING: ReadonlySet<string> = new Set(['store_unreachable', 'store_locked', 'store_failed'])

export function createRoomRelay(
  ledger: Ledger,
  feed: Feed,
  broadcaster: RoomBroadcaster,
  log: Logger,
): RoomRelay {
  let working: Promise<() => void> | undefined
  let holders = 0
  const asking = new Map<string, Promise<readonly RoomMessage[]>>()

  function sendAll(messages: readonly RoomMessage[]): void {
    for (const { room, name, payload } of messages)
      if (broadcaster.hasListeners(room)) {
        if (name === STEP_PROGRESS) broadcaster.sendReady(room, name, payload)
        else broadcaster.send(room, name, payload)
      }
  }

  /** A relay's sessions are correct only if it sees every event: create a new relay after a gap. */
  function begin(): Promise<() => void> {
    let relay = createRelay(ledger)
    const over = new AbortController()

    /** Later events wait for it: what is late does no harm, and what is left out would never be made up for. */
    async function onEvent(event: ClewEvent): Promise<void> {
      for (let waitMs = 50; !over.signal.aborted; waitMs = Math.min(2 * waitMs, 5000))
        try {
          return sendAll(await relay.event(event))
        } catch (error) {
          relay = createRelay(ledger)
          if (!(error instanceof ClewError) || !PASSING.has(error.code)) return giveUp(error)
          await sleep(waitMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined)
        }
    }

    const onNotes = async (notes: readonly ProgressNote[]): Promise<void> => {
      for (const note of notes) sendAll(await relay.progress(note))
    }
    return feed.listen(onEvent).then((stopFeed) => {
      const stopNotes = watchProgress(ledger, onNotes, log)
      return () => {
        over.abort()
        stopFeed()
        stopNotes()
      }
    })
  }

  /** A client that reconnects fetches what it missed. */
  function giveUp(error: unknown): void {
    if (error instanceof ClewError && error.code === 'closed') return
    log.error({ err: error }, 'an event could not be told to rooms; who is in them is cut off')
    broadcaster.cut(ledger.workspace)
  }

  /** Many who come at once, as after a restart, are answered by one read. */
  function share(address: RoomAddress): Promise<readonly RoomMessage[]> {
    const key = `${address.kind} ${address.id}`
    const same = asking.get(key)
    if (same) return same
    const read = readRunning(ledger, address).finally(() => asking.delete(key))
    asking.set(key, read)
    return read
  }

  return {
    async hold() {
      working ??= begin()
      const own = working
      holders++
      let isHeld = true
      const letGo = (): void => {
        if (!isHeld) return
        isHeld = false
        if (--holders > 0) return
        working = undefined
        own.then(
          (stop) => stop(),
          // Callers that waited for it received the error.
          () => undefined,
        )
      }
      try {
        await own
      } catch (error) {
        letGo()
        throw error
      }
      return letGo
    },
    async catchUp(address, tell) {
      for (const { name, payload } of await share(address)) tell(name, payload)
    },
  }
}
