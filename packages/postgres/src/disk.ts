import type { Disk, Ports } from '@clew/ledger'
import { countAnew, rewriteTables } from './rewrite-tables.ts'
import type { Database, Sql } from './sql.ts'

interface DiskParts {
  readonly db: Database
  readonly reading: Sql
  readonly ports: Pick<Ports, 'sleep'>
  readonly waitMs: number
}

/** Tables in which bytes of erased events may be left. */
const ERASED = [
  'payloads',
  'vault',
  'nodes',
  'runs',
  'steps',
  'subjects',
  'tags',
  'scores',
  'scopes',
  'leases',
  'search_words',
  'memory_items',
  'progress',
]
/** Tables that pruning leaves holes in. */
const PRUNED = [
  'events',
  'payloads',
  'nodes',
  'steps',
  'search_words',
  'memory_items',
  'subjects',
  'tags',
  'scores',
]

/** Upkeep of the tables. */
export function createDisk({ db, reading, ports, waitMs }: DiskParts): Disk {
  return {
    // Other runs are written next to it: only acquiring a lease waits.
    pace: { batchMs: 20, rest: 1 },
    flush() {},
    /** VACUUM frees holes for new rows, and returns what is empty at the ends of tables. */
    async reclaim() {
      for (const table of PRUNED) await db.query({ text: `VACUUM (SKIP_LOCKED) ${table}` })
      return false
    },
    /** VACUUM leaves the bytes of deleted rows until their page is reused; a rewrite does not. */
    async scrub({ rewrite }) {
      if (rewrite) return { unfinished: await rewriteTables({ db, reading, ports, waitMs }, ERASED) }
      await countAnew(db, ERASED)
      for (const table of ERASED) await db.query({ text: `VACUUM ${table}` })
      return { unfinished: null }
    },
  }
}
