import type { RawRows, RunSummary, StoredRows } from '@clew/ledger'
import { indexText, indexTextOrNull } from './index-text.ts'
import { scopeName } from './loaded.ts'
import type { Row, Sql } from './sql.ts'
import { STEP_COLUMNS, toStep } from './step-row.ts'

const MARKS = `SELECT m.position, bool_or(m.erased) AS erased, bool_or(NOT m.erased) AS pruned, r.workspace, r.run_id, e.seq
  FROM (SELECT position, true AS erased FROM erasures WHERE position > $1
        UNION ALL SELECT position, false FROM pruned_states WHERE position > $1) m
  LEFT JOIN events e ON e.position = m.position LEFT JOIN runs r ON r.id = e.run
  GROUP BY m.position, r.workspace, r.run_id, e.seq ORDER BY m.position LIMIT $2`
const RUN = `SELECT r.id, r.status, r.thread_id, r.agent, r.agent_version, r.parent_run_id, r.started_ms, r.due_ms, r.summary,
    r.scope, s.name AS scope_name, ARRAY(SELECT subject FROM subjects WHERE run = r.id) AS subjects,
    (SELECT m.seq FROM memory_scopes m WHERE m.workspace = r.workspace AND m.book = r.run_id) AS memory_seq
  FROM runs r LEFT JOIN scopes s ON s.id = r.scope WHERE r.workspace = $1 AND r.run_id = $2`
const TAGS = 'SELECT name, value FROM tags WHERE run = $1'
const PARENTS = `SELECT ${STEP_COLUMNS}, s.parent FROM steps s WHERE s.run = $1`
const SCORES = 'SELECT seq, name, value, number FROM scores WHERE run = $1'

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
  const read = async (text: string, values: unknown[] = []): Promise<Row[]> =>
    (await sql.query({ text, values })).rows
  return {
    async marks({ afterPosition, limit }) {
      return (await read(MARKS, [afterPosition, limit])).map((row) => ({
        position: row['position'] as number,
        isErased: row['erased'] as boolean,
        isPruned: row['pruned'] as boolean,
        event:
          row['run_id'] === null
            ? null
            : {
                workspace: row['workspace'] as string,
                runId: row['run_id'] as string,
                seq: row['seq'] as number,
              },
      }))
    },
    async ofRun({ workspace, runId }) {
      const [row] = await read(RUN, [workspace, runId])
      if (!row) return null
      const ofThis = [row['id']]
      const [tags, scores, steps] = await Promise.all([
        read(TAGS, ofThis),
        read(SCORES, ofThis),
        read(PARENTS, ofThis),
      ])
      const isCopied = steps.every(
        (step) => step['parent'] === indexTextOrNull(toStep(runId, step).parentStepId),
      )
      const fullText = fullTexts(runId, JSON.parse(row['summary'] as string) as RunSummary)
      return { ...toRows(row, tags, scores, fullText), copies: isCopied ? [] : ['steps.parent'] }
    },
    async strays() {
      const counted = STRAYS.map(async ([table, condition]) => {
        const [row] = await read(`SELECT count(*) AS rows FROM ${table} t WHERE ${condition}`)
        return { table, rows: row?.['rows'] as number }
      })
      return (await Promise.all(counted)).filter(({ rows }) => rows > 0)
    },
  }
}

/** Texts of a run by what indexed columns have of them. */
function fullTexts(runId: string, summary: RunSummary): (text: string) => string {
  const { threadId, agent, agentVersion, parentRunId, subjects, tags, scores } = summary
  const texts = [
    ...[threadId, agent, agentVersion, parentRunId].filter((text) => text !== null),
    ...subjects,
    ...Object.entries(tags).flat(),
    ...scores.flatMap(({ name, value }) => [name, JSON.stringify(value)]),
    scopeName(runId, threadId),
    scopeName(runId, null),
  ]
  const byIndexText = new Map(texts.map((text) => [indexText(text), text]))
  return (text) => byIndexText.get(text) ?? text
}

function toRows(
  row: Row,
  tags: readonly Row[],
  scores: readonly Row[],
  fullText: (text: string) => string,
): Omit<StoredRows, 'copies'> {
  const text = (of: Row, column: string): string => fullText(of[column] as string)
  const textOrNull = (column: string): string | null => (row[column] === null ? null : text(row, column))
  return {
    columns: {
      status: row['status'] as string,
      threadId: textOrNull('thread_id'),
      agent: textOrNull('agent'),
      agentVersion: textOrNull('agent_version'),
      parentRunId: textOrNull('parent_run_id'),
      startedMs: row['started_ms'] as number,
      dueMs: row['due_ms'] as number | null,
    },
    subjects: (row['subjects'] as string[]).map(fullText),
    tags: tags.map((tag) => [text(tag, 'name'), text(tag, 'value')] as const),
    scores: scores.map((score) => ({
      seq: score['seq'] as number,
      name: text(score, 'name'),
      value: text(score, 'value'),
      number: score['number'] as number | null,
    })),
    scope: { id: row['scope'] as number, name: textOrNull('scope_name') },
    memorySeq: row['memory_seq'] as number | null,
  }
}
