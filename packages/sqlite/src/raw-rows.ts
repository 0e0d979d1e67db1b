import type { RawRows, StoredRows } from '@clew/ledger'
import type { Connection } from './connection.ts'

/** Tables and the condition under which a row `t` of them belongs to nothing. Node rows of scope 0 only keep an id taken. */
const STRAYS: readonly (readonly [table: string, condition: string])[] = [
  ['payloads', 'NOT EXISTS (SELECT 1 FROM events e WHERE e.position = t.position)'],
  ['nodes', 't.scope <> 0 AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.scope = t.scope)'],
  ['steps', 'NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = t.run)'],
  ['subjects', 'NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = t.run)'],
  ['tags', 'NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = t.run)'],
  ['scores', 'NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = t.run)'],
  ['seals', 'NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = t.run)'],
  ['memory_items', 'NOT EXISTS (SELECT 1 FROM memory_scopes s WHERE s.id = t.scope)'],
]

/** Rows as they are stored, for `verify`. */
export function createRawRows({ db, read }: Connection): RawRows {
  const sql = {
    marks: db.prepare(
      `SELECT m.position, max(m.erased) AS erased, max(m.pruned) AS pruned, r.workspace, r.run_id, e.seq
         FROM (SELECT position, 1 AS erased, 0 AS pruned FROM erasures WHERE position > ?1
               UNION ALL SELECT position, 0, 1 FROM pruned_states WHERE position > ?1) m
         LEFT JOIN events e ON e.position = m.position LEFT JOIN runs r ON r.id = e.run
         GROUP BY m.position ORDER BY m.position LIMIT ?2`,
    ),
    run: db.prepare(
      `SELECT r.id, r.status, r.thread_id AS threadId, r.agent, r.agent_version AS agentVersion, r.parent_run_id AS parentRunId,
         r.started_ms AS startedMs, r.due_ms AS dueMs, r.scope, s.name,
         (SELECT m.seq FROM memory_scopes m WHERE m.workspace = r.workspace AND m.book = r.run_id) AS memorySeq
       FROM runs r LEFT JOIN scopes s ON s.id = r.scope WHERE r.workspace = ? AND r.run_id = ?`,
    ),
    subjects: db.prepare('SELECT subject FROM subjects WHERE run = ?'),
    tags: db.prepare('SELECT name, value FROM tags WHERE run = ?'),
    scores: db.prepare('SELECT seq, name, value, number FROM scores WHERE run = ?'),
  }
  return {
    marks: ({ afterPosition, limit }) =>
      read(() =>
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
    ofRun: ({ workspace, runId }) =>
      read(() => {
        const row = sql.run.get(workspace, runId)
        if (!row) return null
        const { id, scope, name, memorySeq, ...columns } = row
        return {
          columns: columns as unknown as StoredRows['columns'],
          subjects: sql.subjects.all(id as number).map(({ subject }) => subject as string),
          tags: sql.tags
            .all(id as number)
            .map(({ name: tag, value }) => [tag as string, value as string] as const),
          scores: sql.scores.all(id as number).map(({ seq, name: score, value, number }) => ({
            seq: seq as number,
            name: score as string,
            value: value as string,
            number: number as number | null,
          })),
          scope: { id: scope as number, name: name as string | null },
          copies: [],
          memorySeq: memorySeq as number | null,
        }
      }),
    strays: () =>
      read(() =>
        STRAYS.map(([table, condition]) => {
          const row = db.prepare(`SELECT count(*) AS rows FROM ${table} t WHERE ${condition}`).get()
          return { table, rows: Number(row?.['rows']) }
        }).filter(({ rows }) => rows > 0),
      ),
  }
}
