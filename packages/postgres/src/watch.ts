import type { Client } from 'pg'
import { type Ports, notifyAll } from '@clew/ledger'
import type { OpenedDatabase } from './open-database.ts'

/** Between two notifications of this process: each is a transaction, and one is as good as many. */
const NOTIFY_MS = 5
/** After a notification without listeners; a listener that connects then is late by no more. */
const UNHEARD_MS = 100
/** Polling interval: finds commits whose notification was missed or that wait for another transaction. */
const POLL_MS = 2000
const HELD_BACK_MS = 4
const MAX_MS = 1000

export interface Watch {
  add(wake: () => void): () => void
  /** Called after a commit of this process: wakes its followers immediately and those of other processes soon. */
  notify(): void
  /** Committed events wait behind another transaction: their readers look again soon, then less and less often. */
  heldBack(): void
  close(): Promise<void>
}

/** Advisory lock that a listener holds while connected, so that writers can check whether anyone listens. */
const HEAR = 'SELECT pg_advisory_lock_shared(hashtextextended($1, 13))'
const NOTIFY = `SELECT NOT pg_try_advisory_xact_lock(hashtextextended($1, 13)) AS heard, pg_notify($1, '')`

/** Wakes followers on LISTEN/NOTIFY, which carries no data (L7), after each reconnect, and by a slow poll as a fallback. */
export function createWatch(
  database: OpenedDatabase,
  ports: Pick<Ports, 'sleep'>,
  suffix: '' | '_progress' = '',
): Watch {
  const channel = `clew_${database.schema}${suffix}`
  const closing = new AbortController()
  const wakes = new Set<() => void>()
  let isClosed = false
  /** A commit came after the last notification of other processes. */
  let isDue = false
  let notifying: Promise<void> | undefined
  let patienceMs = HELD_BACK_MS
  let listening: Promise<void> | undefined
  let client: Client | undefined
  let poll: NodeJS.Timeout | undefined
  let waiting: NodeJS.Timeout | undefined

  const wake = (): void => notifyAll(wakes)

  /** Connects while there are followers; each new connection wakes them once. */
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

  async function notifyOthers(): Promise<void> {
    do {
      isDue = false
      let isHeard = true
      try {
        const { rows } = await database.query({ name: 'notify', text: NOTIFY, values: [channel] })
        isHeard = rows[0]?.['heard'] === true
      } catch {
        // A lost notification delays other processes; the commit stands.
      }
      await pause(isHeard ? NOTIFY_MS : UNHEARD_MS)
    } while (isDue)
  }

  /** Ends when the ledger is closed, so that a pending notification is sent immediately. */
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
    notify() {
      patienceMs = HELD_BACK_MS
      wake()
      isDue = true
      notifying ??= notifyOthers().finally(() => (notifying = undefined))
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
      await Promise.all([listening, notifying])
    },
  }
}
