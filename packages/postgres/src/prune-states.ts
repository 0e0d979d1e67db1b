import type { StatePruneItem } from '@clew/ledger'
import type { Sql } from './sql.ts'

/** Scopes of which payloads went, where they have values at all. */
export const ADD_SWEEPS = `INSERT INTO sweeps (scope, mark) SELECT DISTINCT s, 1 FROM unnest($1::bigint[]) s
  WHERE EXISTS (SELECT FROM nodes n WHERE n.scope = s)
  ON CONFLICT (scope) DO UPDATE SET mark = sweeps.mark + 1`

const LOCK = `SELECT r.id, r.run_id, r.scope FROM runs r
  WHERE r.workspace = $1 AND r.run_id = ANY ($2::text[]) ORDER BY r.id FOR UPDATE`
const FORKS = `SELECT fork_of, count(*) AS n FROM runs WHERE fork_of = ANY ($1::bigint[]) GROUP BY fork_of`
const EVENTS =
  'unnest($1::bigint[], $2::bigint[]) i (run, seq) JOIN events e ON e.run = i.run AND e.seq = i.seq'
const MARK = `INSERT INTO pruned_states (position, pruned_at) SELECT e.position, $3 FROM ${EVENTS}
  ON CONFLICT (position) DO NOTHING`
const DROP = `DELETE FROM payloads WHERE position IN (SELECT e.position FROM ${EVENTS})`

/** Takes the payloads of checkpoints away whose states are no longer kept (R10); their events stay. */
export async function pruneStates(
  sql: Sql,
  workspace: string,
  items: readonly StatePruneItem[],
): Promise<{ moved: readonly string[]; events: number }> {
  const { rows } = await sql.query({ text: LOCK, values: [workspace, items.map(({ runId }) => runId)] })
  const runs = new Map(rows.map((row) => [row['run_id'] as string, row]))
  const ids = rows.map((row) => Number(row['id']))
  const counted = await sql.query({ text: FORKS, values: [ids] })
  const forks = new Map(counted.rows.map((row) => [Number(row['fork_of']), Number(row['n'])]))
  const moved = items.filter((item) => {
    const id = runs.get(item.runId)?.['id']
    return id === undefined || (forks.get(Number(id)) ?? 0) !== item.forks
  })
  if (moved.length > 0) return { moved: moved.map(({ runId }) => runId), events: 0 }
  const placesOf = (of: (item: StatePruneItem) => readonly number[]): unknown[] => {
    const places = items.flatMap((item) =>
      of(item).map((seq) => [Number(runs.get(item.runId)?.['id']), seq] as const),
    )
    return [places.map(([id]) => id), places.map(([, seq]) => seq)]
  }
  const all = placesOf(({ marks, blanks }) => [...new Set([...marks, ...blanks])])
  await sql.query({ text: MARK, values: [...all, new Date().toISOString()] })
  const { rowCount } = await sql.query({ text: DROP, values: placesOf(({ blanks }) => blanks) })
  await sql.query({ text: ADD_SWEEPS, values: [rows.map((row) => Number(row['scope']))] })
  return { moved: [], events: rowCount ?? 0 }
}
