import type { Client } from 'pg'
import { type Ports, wakeAll } from '@clew/ledger'
import type { OpenedDatabase } from './open-database.ts'

/** Between two rings of this process: each is a transaction, and one is as good as many. */
const RING_MS = 5
/** What was not heard is found by this; also what waits behind a transaction of somebody else. */
const POLL_MS = 2000
const HELD_BACK_MS = 4
const LONGEST_MS = 1000

export interface Watch {
  add(wake: () => void): () => void
  /** This process has committed: wakes its own followers at once and those of others soon. */
  ring(): void
  /** Committed events wait behind another transaction: their readers look again soon, then less and less often. */
  heldBack(): void
  close(): Promise<void>
}

/** The doorbell (L7): LISTEN carries no data, a lost connection rings when it is back, and a slow poll stands behind. */
export function createWatch(
  database: OpenedDatabase,
  ports: Pick<Ports, 'sleep'>,
  bell: '' | '_progress' = '',
): Watch {
  const channel = `clew_${database.schema}${bell}`
  const wakes = new Set<() => void>()
  let isClosed = false
  /** Something was committed since the last ring to others. */
  let isDue = false
  let ringing: Promise<void> | undefined
  let patienceMs = HELD_BACK_MS
  let listening: Promise<void> | undefined
  let client: Client | undefined
  let poll: NodeJS.Timeout | undefined
  let waiting: NodeJS.Timeout | undefined

  const wake = (): void => wakeAll(wakes)

  /** Connects until nobody watches any more; every connection that is there begins with a ring. */
  async function listen(): Promise<void> {
    for (let waitMs = 20; wakes.size > 0 && !isClosed; waitMs = Math.min(2 * waitMs, LONGEST_MS)) {
      const own = database.createClient()
      const ended = new Promise<void>((resolve) =>
        own.on('error', () => resolve()).on('end', () => resolve()),
      )
      try {
        await own.connect()
        own.on('notification', () => {
          patienceMs = HELD_BACK_MS
          wake()
        })
        await own.query(`LISTEN "${channel}"`)
        client = own
        waitMs = 20
        wake()
        if (wakes.size === 0 || isClosed) break
        await ended
      } catch {
        // Whoever is woken by the poll reads, and meets the same error where it can be told.
      } finally {
        client = undefined
        await own.end().catch(() => undefined)
      }
      wake()
      if (wakes.size > 0 && !isClosed) await ports.sleep(waitMs)
    }
  }

  function start(): void {
    poll ??= setInterval(wake, POLL_MS).unref()
    listening ??= listen().finally(() => {
      listening = undefined
      if (wakes.size > 0 && !isClosed) start()
    })
  }

  function stop(): void {
    clearInterval(poll)
    clearTimeout(waiting)
    poll = waiting = undefined
    void client?.end().catch(() => undefined)
  }

  async function notify(): Promise<void> {
    do {
      isDue = false
      try {
        await database.query({ name: 'notify', text: 'SELECT pg_notify($1, $2)', values: [channel, ''] })
      } catch {
        // A lost ring makes others late, never wrong, and the commit it was for stands.
      }
      await ports.sleep(RING_MS)
    } while (isDue)
  }

  return {
    add(added) {
      wakes.add(added)
      start()
      return () => {
        wakes.delete(added)
        if (wakes.size === 0) stop()
      }
    },
    ring() {
      patienceMs = HELD_BACK_MS
      wake()
      isDue = true
      ringing ??= notify().finally(() => (ringing = undefined))
    },
    heldBack() {
      if (waiting || wakes.size === 0) return
      waiting = setTimeout(() => {
        waiting = undefined
        wake()
      }, patienceMs).unref()
      patienceMs = Math.min(patienceMs * 1.5, 100)
    },
    async close() {
      isClosed = true
      stop()
      wake()
      await Promise.all([listening, ringing])
    },
  }
}
