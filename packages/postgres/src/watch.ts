import type { Client } from 'pg'
import { type Ports, wakeAll } from '@clew/ledger'
import type { OpenedDatabase } from './open-database.ts'

/** Between two rings of this process: each is a transaction, and one is as good as many. */
const RING_MS = 5
/** After one that nobody heard: whoever begins to listen then is late by no more. */
const UNHEARD_MS = 100
/** Polling interval: finds commits whose notification was missed or that wait for another transaction. */
const POLL_MS = 2000
const HELD_BACK_MS = 4
const MAX_MS = 1000

export interface Watch {
  add(wake: () => void): () => void
  /** This process has committed: wakes its own followers at once and those of others soon. */
  ring(): void
  /** Committed events wait behind another transaction: their readers look again soon, then less and less often. */
  heldBack(): void
  close(): Promise<void>
}

/** Advisory lock that a listener holds while connected, so that writers can check whether anyone listens. */
const HEAR = 'SELECT pg_advisory_lock_shared(hashtextextended($1, 13))'
const RING = `SELECT NOT pg_try_advisory_xact_lock(hashtextextended($1, 13)) AS heard, pg_notify($1, '')`

/** The doorbell (L7): LISTEN carries no data, a lost connection rings when it is back, and a slow poll stands behind. */
export function createWatch(
  database: OpenedDatabase,
  ports: Pick<Ports, 'sleep'>,
  bell: '' | '_progress' = '',
): Watch {
  const channel = `clew_${database.schema}${bell}`
  const closing = new AbortController()
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
    for (let waitMs = 20; wakes.size > 0 && !isClosed; waitMs = Math.min(2 * waitMs, MAX_MS)) {
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
        await own.query(HEAR, [channel])
        client = own
        waitMs = 20
        wake()
        if (wakes.size === 0 || isClosed) break
        await ended
      } catch {
        // A listener woken by the poll reads and meets the same error, where its caller sees it.
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
      let isHeard = true
      try {
        const { rows } = await database.query({ name: 'notify', text: RING, values: [channel] })
        isHeard = rows[0]?.['heard'] === true
      } catch {
        // A lost ring makes others late, never wrong, and the commit it was for stands.
      }
      await pause(isHeard ? RING_MS : UNHEARD_MS)
    } while (isDue)
  }

  /** Shorter when the ledger is closed: what is due then is rung at once. */
  async function pause(ms: number): Promise<void> {
    if (!isClosed) await ports.sleep(ms, closing.signal).catch(() => undefined)
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
      closing.abort()
      stop()
      wake()
      await Promise.all([listening, ringing])
    },
  }
}
