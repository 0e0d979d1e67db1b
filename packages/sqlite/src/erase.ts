import type { DatabaseSync } from 'node:sqlite'
import {
  type AppendOutcome,
  type ClewEvent,
  type ErasedRun,
  type EraseWork,
  type Erasing,
  type Ports,
} from '@clew/ledger'
import type { Append } from './append.ts'
import type { Connection } from './connection.ts'
import { EVENT_COLUMNS, LAST_POSITION, toStoredEvent } from './event-row.ts'
import { createRunFinder } from './find-runs.ts'
import type { SqliteRun } from './run-row.ts'
import { ADD_SWEEP } from './values.ts'

/** Positions that one statement reads through: a few milliseconds, during which the event loop waits. */
const WINDOW = 20_000
/** Pages that one statement gives back to the file system. */
const FREE_PAGES = 2000
const STILL_READ =
  'Nothing of it can be read any more, but others still read an older state of the file from its WAL. Let them end, and erase the same again: then nothing is left of it.'

/** Deletes payloads and all that is derived from them (P5). `searchIndex` is the database of the index, if there is one. */
export function createErasing(
  { db, runs, waitMs, read, write }: Connection,
  ports: Pick<Ports, 'sleep'>,
  append: Append,
  searchIndex: () => DatabaseSync | undefined,
): Erasing {
  const finder = createRunFinder(db)
  const sql = {
    // Every payload of the window is read, so each text has a parameter of its own.
    payloads: (texts: readonly string[]) =>
      db.prepare(
        `SELECT ${EVENT_COLUMNS} WHERE r.workspace = ?3 AND e.position IN (
           SELECT x.position FROM payloads x WHERE x.position > ?1 AND x.position <= ?2
             AND (substr(x.body, 1, 1) <> '{'${texts.map((_, at) => ` OR instr(x.body, ?${at + 5}) > 0`).join('')}))
         ORDER BY e.position LIMIT ?4`,
      ),
    last: db.prepare(LAST_POSITION),
    addErasures: db.prepare('INSERT INTO erasures (position, erased_at) SELECT value, ? FROM json_each(?)'),
    dropPayloads: db.prepare('DELETE FROM payloads WHERE position IN (SELECT value FROM json_each(?))'),
    // A trigger deletes their words.
    dropMemory: db.prepare('DELETE FROM memory_items WHERE position IN (SELECT value FROM json_each(?))'),
    addSweep: db.prepare(ADD_SWEEP),
    dropSteps: db.prepare('DELETE FROM steps WHERE run = ?'),
    // The name of a thread may be the name of a person.
    forgetThread: db.prepare(
      'UPDATE leases SET thread_id = NULL WHERE workspace = ? AND run_id = ? AND held = 0',
    ),
    forgetScope: db.prepare(
      `UPDATE scopes SET name = 'erased ' || id WHERE id = ?1 AND name LIKE 'thread %'
         AND NOT EXISTS (SELECT 1 FROM runs WHERE scope = ?1 AND thread_id IS NOT NULL)`,
    ),
  }

  function apply({ workspace, positions, runs: erased, erasedAt, call }: EraseWork): ClewEvent | null {
    const found = erased.map(({ runId, seq }) => {
      const run = runs.find({ workspace, runId })
      return run?.seq === seq ? run : undefined
    })
    if (found.includes(undefined)) return null
    const outcome = append([call])[0] as AppendOutcome
    if ('error' in outcome) {
      if (outcome.error.code === 'wrong_seq') return null
      throw outcome.error
    }
    const places = JSON.stringify(positions)
    sql.addErasures.run(erasedAt, places)
    sql.dropPayloads.run(places)
    sql.dropMemory.run(places)
    for (const [at, run] of erased.entries()) replace(found[at] as SqliteRun, run)
    return outcome.events[0] as ClewEvent
  }

  function replace(run: SqliteRun, { summary, steps, isWhole }: ErasedRun): void {
    sql.dropSteps.run(run.id)
    for (const step of steps) runs.putStep(run, step)
    runs.replace(run, summary)
    sql.addSweep.run(run.scope)
    if (!isWhole) return
    sql.forgetThread.run(run.workspace, run.runId)
    sql.forgetScope.run(run.scope)
  }

  /** Empties the WAL; false if readers of an older state still keep it after `waitMs`. */
  async function truncateWal(database: DatabaseSync): Promise<boolean> {
    const deadline = performance.now() + waitMs
    for (;;) {
      const done = await read(() => database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get())
      if (done?.['busy'] === 0) return true
      if (performance.now() > deadline) return false
      await ports.sleep(5 + Math.random() * 20)
    }
  }

  /** Gives free pages back to the file system, a few at a time. They are empty already (`secure_delete`). */
  async function vacuum(database: DatabaseSync): Promise<void> {
    const freePages = database.prepare('PRAGMA freelist_count')
    const reclaim = database.prepare(`PRAGMA incremental_vacuum(${FREE_PAGES})`)
    while ((await read(() => Number(freePages.get()?.['freelist_count']))) > 0)
      await read(() => reclaim.all())
  }

  return {
    findRuns: (workspace, subjects) => read(() => finder.bySubject(workspace, subjects)),
    findPayloads: ({ workspace, texts, afterPosition, limit }) =>
      read(() => {
        const end = afterPosition + WINDOW
        const found = sql.payloads(texts).all(afterPosition, end, workspace, limit, ...texts)
        const events = found.map(toStoredEvent)
        const last = Number(sql.last.get()?.['position'] ?? 0)
        if (events.length === limit) return { events, next: events.at(-1)?.position ?? end }
        return { events, next: end < last ? end : null }
      }),
    erase: (work) => write(() => apply(work)),
    async scrub({ rewrite }) {
      const index = searchIndex()
      let isEmpty = true
      for (const database of index ? [db, index] : [db]) {
        await vacuum(database)
        if (rewrite) await read(() => database.exec('VACUUM'))
        isEmpty = (await truncateWal(database)) && isEmpty
      }
      return { unfinished: isEmpty ? null : STILL_READ }
    },
  }
}
