import type { RawRows, RunSummary, StoredRows, StoredScore, StrayRows } from '@clew/ledger'
import { indexText } from './index-text.ts'
import type { Sql } from './sql.ts'

const MARKS = `SELECT m.position, bool_or(m.erased) AS erased, bool_or(NOT m.erased) AS pruned, r.workspace, r.run_id, e.seq
  FROM (SELECT position, true AS erased FROM erasures WHERE position > $1
        UNION ALL SELECT position, false FROM pruned_states WHERE position > $1) m
  LEFT JOIN events e ON e.position = m.position LEFT JOIN runs r ON r.id = e.run
  GROUP BY m.position, r.workspace, r.run_id, e.seq ORDER BY m.position LIMIT $2`

const ROWS = `SELECT r.status, r.thread_id, r.agent, r.agent_version, r.parent_run_id, r.started_ms, r.due_ms, r.summary,
    r.scope, s.name, ARRAY(SELECT subject FROM subjects WHERE run = r.id) AS subjects,
    (SELECT json_agg(json_build_array(t.name, t.value)) FROM tags t WHERE t.run = r.id) AS tags,
    (SELECT json_agg(json_build_object('seq', c.seq, 'name', c.name, 'value', c.value, 'number', c.number))
       FROM scores c WHERE c.run = r.id) AS scores,
    (SELECT m.seq FROM memory_scopes m WHERE m.workspace = r.workspace AND m.book = r.run_id) AS memory_seq
  FROM runs r LEFT JOIN scopes s ON s.id = r.scope WHERE r.workspace = $1 AND r.run_id = $2`

/** Tables and the condition under which a row `t` of them belongs to nothing. */
const STRAYS: readonly (readonly [table: string, condition: string])[] = [
  ['payloads', 'NOT EXISTS (SELECT FROM events e WHERE e.position = t.position)'],
  ['nodes', 'NOT EXISTS (SELECT FROM runs r WHERE r.scope = t.scope)'],
  ['steps', 'NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run)'],
  ['subjects', 'NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run)'],
  ['tags', 'NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run)'],
  ['scores', 'NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run)'],
  ['seals', 'NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run)'],
  ['memory_items', 'NOT EXISTS (SELECT FROM memory_scopes s WHERE s.id = t.scope)'],
]

/** Rows as they are stored, for `verify`. */
export function createRawRows(sql: Sql): RawRows {
  return {
    async marks({ afterPosition, limit }) {
      const { rows } = await sql.query({ text: MARKS, values: [afterPosition, limit] })
      return rows.map((row) => ({
        position: Number(row['position']),
        isErased: row['erased'] === true,
        isPruned: row['pruned'] === true,
        event:
          row['run_id'] === null
            ? null
            : {
                workspace: row['workspace'] as string,
                runId: row['run_id'] as string,
                seq: Number(row['seq']),
              },
      }))
    },
    async ofRun({ workspace, runId }) {
      const { rows } = await sql.query({ text: ROWS, values: [workspace, runId] })
      return rows[0] ? toStoredRows(runId, rows[0]) : null
    },
    async strays() {
      const strays: StrayRows[] = []
      for (const [table, condition] of STRAYS) {
        const text = `SELECT count(*) AS rows FROM ${table} t WHERE ${condition}`
        const rows = Number((await sql.query({ text })).rows[0]?.['rows'])
        if (rows > 0) strays.push({ table, rows })
      }
      return strays
    },
  }
}

/** A text that an indexed column holds shortened (`indexText`) is returned as the summary has it. */
function toStoredRows(runId: string, row: Record<string, unknown>): StoredRows {
  const summary = JSON.parse(row['summary'] as string) as RunSummary
  const { threadId, agent, agentVersion, parentRunId, subjects, tags, scores } = summary
  const texts = [
    ...[threadId, agent, agentVersion, parentRunId, `thread ${threadId}`, `run ${runId}`],
    ...[...subjects, ...Object.entries(tags).flat(), ...scores.map(({ name }) => name)],
  ]
  const whole = new Map(texts.flatMap((text) => (text === null ? [] : [[indexText(text), text] as const])))
  const wholeOf = (value: string): string => whole.get(value) ?? value
  const text = (column: string): string | null =>
    row[column] === null ? null : wholeOf(row[column] as string)
  const number = (column: string): number | null => (row[column] === null ? null : Number(row[column]))
  const tagRows = (row['tags'] ?? []) as readonly (readonly [string, string])[]
  const scoreRows = (row['scores'] ?? []) as readonly (Omit<StoredScore, 'value'> & {
    readonly value: string
  })[]
  return {
    columns: {
      status: row['status'] as string,
      threadId: text('thread_id'),
      agent: text('agent'),
      agentVersion: text('agent_version'),
      parentRunId: text('parent_run_id'),
      startedMs: Number(row['started_ms']),
      dueMs: number('due_ms'),
    },
    subjects: (row['subjects'] as string[]).map(wholeOf),
    tags: tagRows.map(([name, value]) => [wholeOf(name), wholeOf(value)] as const),
    scores: scoreRows.map((score) => ({
      ...score,
      name: wholeOf(score.name),
      value: JSON.parse(score.value) as StoredScore['value'],
    })),
    scope: { id: Number(row['scope']), name: text('name') },
    memorySeq: number('memory_seq'),
  }
}
