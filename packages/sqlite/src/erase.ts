import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import {
  type AppendCall,
  type AppendOutcome,
  type ClewEvent,
  dueMsOf,
  type ErasedRun,
  type EraseWork,
  type Erasing,
  type Ports,
  type RunKey,
} from '@clew/ledger'
import { EVENT_COLUMNS, LAST_POSITION, toStoredEvent } from './event-row.ts'
import { type FoldTail, RUN_COLUMNS, toStoredRun } from './list-runs.ts'
import { PUT_STEP, stepValues } from './step-row.ts'

/** Positions that one statement looks through: a few milliseconds, in which nothing else goes on here. */
const WINDOW = 20_000
const FREE_PAGES = 2000
const STILL_READ =
  'Nothing of it can be read any more, but others still read an older state of the file from its WAL. Let them end, and erase the same again: then nothing is left of it.'

interface EraseParts {
  readonly db: DatabaseSync
  readonly file: string
  readonly ports: Pick<Ports, 'sleep'>
  readonly waitMs: number
  readonly transact: <T>(work: () => T) => Promise<T>
  readonly reading: <T>(work: () => T) => Promise<T>
  readonly foldTail: FoldTail
  /** Appends inside the transaction that was begun. */
  readonly append: (call: AppendCall) => AppendOutcome
  /** Writes the rows of a run that are behind its events. */
  readonly settle: (key: RunKey) => void
  readonly forget: () => void
  readonly ring: () => void
  /** The file of the search index, where there is one. */
  readonly search: () => DatabaseSync | undefined
}

export function createErasing(parts: EraseParts): Erasing {
  const { db, transact, reading, foldTail, append, settle } = parts
  const sql = {
    runs: db.prepare(
      `SELECT ${RUN_COLUMNS} WHERE r.workspace = ?1 AND r.id IN (SELECT run FROM subjects
         WHERE subject IN (SELECT value FROM json_each(?2))) ORDER BY r.id`,
    ),
    /** Texts are few, and every payload is looked at: each has a place of its own in the statement. */
    payloads: (texts: readonly string[]) =>
      db.prepare(
        `SELECT ${EVENT_COLUMNS} WHERE e.position IN (SELECT x.position
         FROM (SELECT position, body FROM payloads UNION ALL SELECT position, body FROM inbox) x WHERE x.position > ?1 AND x.position <= ?2
           AND (substr(x.body, 1, 1) <> '{'${texts.map((_, at) => ` OR instr(x.body, ?${at + 5}) > 0`).join('')}))
       AND r.workspace = ?3 ORDER BY e.position LIMIT ?4`,
      ),
    last: db.prepare(LAST_POSITION),
    run: db.prepare('SELECT id, scope, seq, recorded_at FROM runs WHERE workspace = ? AND run_id = ?'),
    addErasures: db.prepare('INSERT INTO erasures (position, erased_at) SELECT value, ? FROM json_each(?)'),
    dropPayloads: db.prepare('DELETE FROM payloads WHERE position IN (SELECT value FROM json_each(?))'),
    // With their words, by a trigger.
    dropMemory: db.prepare('DELETE FROM memory_items WHERE position IN (SELECT value FROM json_each(?))'),
    addSweep: db.prepare(
      'INSERT INTO sweeps (scope, mark) VALUES (?1, 1) ON CONFLICT (scope) DO UPDATE SET mark = mark + 1',
    ),
    dropSteps: db.prepare('DELETE FROM steps WHERE run = ?'),
    putStep: db.prepare(PUT_STEP),
    updateRun: db.prepare(
      `UPDATE runs SET status = ?, due_ms = ?, thread_id = ?, agent = ?, agent_version = ?, parent_run_id = ?,
         started_ms = ?, summary = ?, folded_seq = seq WHERE id = ?`,
    ),
    dropSubjects: db.prepare('DELETE FROM subjects WHERE run = ?'),
    addSubject: db.prepare('INSERT OR IGNORE INTO subjects (run, subject) VALUES (?, ?)'),
    // The name of a thread may be that of a person.
    forgetThread: db.prepare(
      'UPDATE leases SET thread_id = NULL WHERE workspace = ? AND run_id = ? AND held = 0',
    ),
    forgetScope: db.prepare(
      `UPDATE scopes SET name = 'erased ' || id WHERE id = ?1 AND name LIKE 'thread %'
         AND NOT EXISTS (SELECT 1 FROM runs WHERE scope = ?1 AND thread_id IS NOT NULL)`,
    ),
    marks: db.prepare(
      `SELECT m.position, max(m.erased) AS erased, max(m.pruned) AS pruned, r.workspace, r.run_id, e.seq
         FROM (SELECT position, 1 AS erased, 0 AS pruned FROM erasures WHERE position > ?1
               UNION ALL SELECT position, 0, 1 FROM pruned_states WHERE position > ?1) m
         LEFT JOIN events e ON e.position = m.position LEFT JOIN runs r ON r.id = e.run
         GROUP BY m.position ORDER BY m.position LIMIT ?2`,
    ),
    reclaim: db.prepare(`PRAGMA incremental_vacuum(${FREE_PAGES})`),
    freePages: db.prepare('PRAGMA freelist_count'),
  }

  function apply({ workspace, positions, runs, erasedAt, call }: EraseWork): ClewEvent | null {
    const rows = runs.map(({ runId, seq }) => {
      settle({ workspace, runId })
      const row = sql.run.get(workspace, runId)
      return row?.['seq'] === seq ? row : undefined
    })
    if (rows.includes(undefined)) return null
    const outcome = append(call)
    if ('error' in outcome) {
      if (outcome.error.code === 'wrong_seq') return null
      throw outcome.error
    }
    const places = JSON.stringify(positions)
    sql.addErasures.run(erasedAt, places)
    sql.dropPayloads.run(places)
    sql.dropMemory.run(places)
    for (const [at, run] of runs.entries()) replace(workspace, run, rows[at] as Record<string, unknown>)
    parts.forget()
    return outcome.events[0] as ClewEvent
  }

  function replace(workspace: string, run: ErasedRun, row: Record<string, unknown>): void {
    const { summary, steps, runId, isWhole } = run
    const [id, scope] = [row['id'] as number, row['scope'] as number]
    sql.dropSteps.run(id)
    for (const step of steps) sql.putStep.run(...stepValues(id, step))
    const { status, threadId, agent, agentVersion, parentRunId, startedAt, subjects } = summary
    const dueMs = dueMsOf(summary, row['recorded_at'] as string)
    const text = JSON.stringify(summary)
    const startedMs = Date.parse(startedAt)
    sql.updateRun.run(status, dueMs, threadId, agent, agentVersion, parentRunId, startedMs, text, id)
    sql.dropSubjects.run(id)
    for (const subject of subjects) sql.addSubject.run(id, subject)
    sql.addSweep.run(scope)
    if (!isWhole) return
    sql.forgetThread.run(workspace, runId)
    sql.forgetScope.run(scope)
  }

  /** Readers of an older state keep the WAL: they are waited for. Says whether it is empty. */
  async function truncateWal(database: DatabaseSync): Promise<boolean> {
    const deadline = performance.now() + parts.waitMs
    for (;;) {
      const done = await reading(() => database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get())
      if (done?.['busy'] === 0) return true
      if (performance.now() > deadline) return false
      await parts.ports.sleep(5 + Math.random() * 20)
    }
  }

  /** Freed pages are empty already (`secure_delete`); this gives them back, a few at a time. */
  async function vacuum(database: DatabaseSync): Promise<void> {
    const freePages = database.prepare('PRAGMA freelist_count')
    const reclaim = database.prepare(`PRAGMA incremental_vacuum(${FREE_PAGES})`)
    for (let free = 1; free > 0; ) {
      free = await reading(() => Number(freePages.get()?.['freelist_count']))
      if (free > 0) await reading(() => reclaim.all())
    }
  }

  /** Migrations leave a copy of the file as it was before. */
  function removeBackups(): number {
    const [folder, name] = [dirname(parts.file), basename(parts.file)]
    const backups = readdirSync(folder).filter((each) => each.startsWith(`${name}.backup-`))
    for (const each of backups) rmSync(join(folder, each), { force: true })
    return backups.length
  }

  return {
    findRuns: (workspace, subjects) =>
      reading(() =>
        sql.runs.all(workspace, JSON.stringify(subjects)).map((row) => toStoredRun(row, foldTail)),
      ),
    findPayloads: ({ workspace, texts, afterPosition, limit }) =>
      reading(() => {
        const end = afterPosition + WINDOW
        const found = sql.payloads(texts).all(afterPosition, end, workspace, limit, ...texts)
        const events = found.map(toStoredEvent)
        const last = Number(sql.last.get()?.['position'] ?? 0)
        if (events.length === limit) return { events, next: events.at(-1)?.position ?? end }
        return { events, next: end < last ? end : null }
      }),
    async erase(work) {
      const event = await transact(() => apply(work))
      if (event) parts.ring()
      return event
    },
    marks: ({ afterPosition, limit }) =>
      reading(() =>
        sql.marks.all(afterPosition, limit).map((row) => ({
          position: row['position'] as number,
          isErased: row['erased'] === 1,
          isPruned: row['pruned'] === 1,
          event:
            row['run_id'] === null
              ? null
              : {
                  workspace: row['workspace'] as string,
                  runId: row['run_id'] as string,
                  seq: row['seq'] as number,
                },
        })),
      ),
    async scrub({ rewrite }) {
      const backups = removeBackups()
      const search = parts.search()
      let isEmpty = true
      for (const database of search ? [db, search] : [db]) {
        await vacuum(database)
        if (rewrite) await reading(() => database.exec('VACUUM'))
        isEmpty = (await truncateWal(database)) && isEmpty
      }
      return { backups, unfinished: isEmpty ? null : STILL_READ }
    },
  }
}
