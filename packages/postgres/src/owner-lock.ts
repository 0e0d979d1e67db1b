import type { Client } from 'pg'
import { storeError } from './errors.ts'
import type { OpenedDatabase } from './open-database.ts'

/**
 * A process proves that it lives by a connection of its own, held as long as the ledger is open. Its backend ends
 * with the process, however that ends, so a missing backend immediately proves the owner dead (R9). A lost connection
 * is made again, and the owner's row follows.
 */
export interface OwnerLock {
  /** Connects and registers this owner, unless that is done. */
  hold(): Promise<void>
  /** Ends the connection. The row stays when leases still name this owner: without a backend it proves them orphans. */
  release(): Promise<void>
}

/** How soon a lost connection is tried for again, and how long at most between two tries. */
const [FIRST_MS, MAX_MS] = [20, 1000]

/** Behind a pooler the pid that the connection received is not that of its backend, and proves nothing. */
const REGISTER = `INSERT INTO owners (owner, pid, backend_start, server_start)
  SELECT $1, CASE WHEN a.pid = $2 THEN a.pid END, a.backend_start, pg_postmaster_start_time()
  FROM pg_stat_activity a WHERE a.pid = pg_backend_pid()
  ON CONFLICT (owner) DO UPDATE SET pid = excluded.pid, backend_start = excluded.backend_start,
    server_start = excluded.server_start`

/** No time-out of the server may end it, and a machine that vanished is noticed within a minute. */
const KEEP = `SET idle_session_timeout = 0; SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 10;
  SET tcp_keepalives_count = 3`

const SWEEP = `DELETE FROM owners o WHERE pid IS NOT NULL
  AND NOT EXISTS (SELECT FROM leases l WHERE l.owner = o.owner AND l.held)
  AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = o.pid
    AND (a.backend_start = o.backend_start OR a.backend_start IS NULL))`

const LEAVE = `DELETE FROM owners WHERE owner = $1
  AND NOT EXISTS (SELECT FROM leases WHERE owner = $1 AND held)`

export function createOwnerLock(
  database: Pick<OpenedDatabase, 'url' | 'createClient' | 'settle'>,
  owner: string,
): OwnerLock {
  let holding: Promise<Client> | undefined
  let closed = false

  async function register(): Promise<Client> {
    const client = database.createClient()
    let isRegistered = false
    // The driver reports a loss by an error, by an end, or by both.
    const lose = (): void => {
      if (!isRegistered) return
      isRegistered = false
      holding = undefined
      void holdAgain()
    }
    client.on('error', lose).on('end', lose)
    try {
      await client.connect()
      await database.settle(client)
      await client.query(KEEP)
      await client.query(REGISTER, [owner, Reflect.get(client, 'processID')])
      await client.query(SWEEP)
      // The lock's connection does not keep the process alive.
      hang(client).unref()
    } catch (error) {
      await client.end().catch(() => undefined)
      throw storeError(database.url, error)
    }
    isRegistered = true
    return client
  }

  /** Failures are not reported: the next use of the ledger meets the same one. */
  async function holdAgain(): Promise<void> {
    for (let waitMs = FIRST_MS; !closed; waitMs = Math.min(2 * waitMs, MAX_MS))
      try {
        await hold()
        return
      } catch {
        await new Promise((resolve) => setTimeout(resolve, waitMs).unref())
      }
  }

  async function hold(): Promise<void> {
    holding ??= register()
    const mine = holding
    try {
      await mine
    } catch (error) {
      if (holding === mine) holding = undefined
      throw error
    }
  }

  return {
    hold,
    async release() {
      closed = true
      const client = await holding?.catch(() => undefined)
      holding = undefined
      if (!client) return
      hang(client).ref()
      // A server that is down needs no farewell message.
      await client.query(LEAVE, [owner]).catch(() => undefined)
      await client.end().catch(() => undefined)
    },
  }
}

const hang = (client: Client): { ref(): void; unref(): void } =>
  client as unknown as { ref(): void; unref(): void }
