import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/** So many events lie there at most: each new one is compared with them, and moving many on together is cheap. */
const MOST = 64

/** Columns of `events`, in the order in which `add` takes them. */
export const EVENT_FIELDS = `position, run, seq, event_id, event_type, timestamp, origin, runtime, causation_id, recorded_at,
  schema_version, payload_hash, hash, follows`

/** Where events of small commits lie first; all of it inside write transactions. See migrations 10 and 11. */
export interface Inbox {
  /** The values of `EVENT_FIELDS`, then those of the payload. The head of the run moves with it. */
  add(...values: SQLInputValue[]): void
  /** Moves all that lies there on to `events` and `payloads`. */
  empty(): void
  /** As far as this connection knows: what others left there is theirs. */
  readonly isEmpty: boolean
  /** Somebody else may have written to it. */
  forget(): void
}

export function createInbox(db: DatabaseSync): Inbox {
  const sql = {
    count: db.prepare('SELECT count(*) AS n FROM inbox'),
    add: db.prepare(
      `INSERT OR ROLLBACK INTO inbox (${EVENT_FIELDS}, salt, mac, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    // A trigger moves what is deleted.
    moveOn: db.prepare('DELETE FROM inbox'),
  }
  let known: number | undefined
  const count = (): number => (known ??= Number(sql.count.get()?.['n']))

  function empty(): void {
    if (count() === 0) return
    sql.moveOn.run()
    known = 0
  }

  return {
    add(...values) {
      if (count() >= MOST) empty()
      sql.add.run(...values)
      known = count() + 1
    },
    empty,
    get isEmpty() {
      return !known
    },
    forget() {
      known = undefined
    },
  }
}
