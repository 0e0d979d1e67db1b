import type { Batch, PrunedRange } from './batch.ts'
import type { RunRow } from './run-row.ts'
import type { Statement } from './sql.ts'
import { arraysOf, bytesOf, type Column, unnest } from './unnest.ts'

const RANGE: readonly Column<PrunedRange>[] = [
  ['run', 'bigint', ({ run }) => run],
  ['from_seq', 'bigint', ({ fromSeq }) => fromSeq],
  ['to_seq', 'bigint', ({ toSeq }) => toSeq],
]
const SEAL: readonly Column<PrunedRange>[] = [
  ...RANGE,
  ['head_hash', 'bytea', ({ headHash }) => bytesOf(headHash)],
]

const LISTED = 'SELECT unnest($1::bigint[])'
const IN_RANGES = `SELECT e.position FROM ${unnest(RANGE, 'k')} JOIN events e ON e.run = k.run AND e.seq BETWEEN k.from_seq AND k.to_seq`

/** Deletes payloads with all that is derived from them; a trigger deletes rows of the vault. Sweeps delete shared values later. */
const deletePayloads = (positions: string): readonly string[] => [
  `INSERT INTO search_removals (position) SELECT position FROM payloads WHERE position IN (${positions}) ON CONFLICT DO NOTHING`,
  `INSERT INTO sweeps (scope, mark) SELECT s.scope, 1 FROM (
      SELECT DISTINCT r.scope FROM events e JOIN runs r ON r.id = e.run WHERE e.position IN (${positions})
    ) s WHERE EXISTS (SELECT FROM nodes n WHERE n.scope = s.scope) ORDER BY s.scope
    ON CONFLICT (scope) DO UPDATE SET mark = sweeps.mark + 1`,
  `DELETE FROM memory_items WHERE position IN (${positions})`,
  `DELETE FROM payloads WHERE position IN (${positions})`,
]

const MARK = {
  erased: 'INSERT INTO erasures (position, erased_at) SELECT p, $2 FROM unnest($1::bigint[]) p',
  pruned: `INSERT INTO pruned_states (position, pruned_at) SELECT p, $2 FROM unnest($1::bigint[]) p ON CONFLICT DO NOTHING`,
}
const BLANK = deletePayloads(LISTED)

export function blankStatements({ positions, as, keepPayloads, at }: Batch['blanks'][number]): Statement[] {
  const mark = { text: MARK[as], values: [positions, at] }
  return keepPayloads ? [mark] : [mark, ...BLANK.map((text) => ({ text, values: [positions] }))]
}

const ADD_SEALS = `INSERT INTO seals (run, from_seq, to_seq, head_hash) SELECT * FROM ${unnest(SEAL, 'k')}`
const PRUNE = [
  ...deletePayloads(IN_RANGES),
  `DELETE FROM steps s USING ${unnest(RANGE, 'k')} WHERE s.run = k.run AND s.started_seq BETWEEN k.from_seq AND k.to_seq`,
  `DELETE FROM events WHERE position IN (${IN_RANGES})`,
]

export function pruneStatements(ranges: readonly PrunedRange[]): Statement[] {
  if (ranges.length === 0) return []
  const values = arraysOf(RANGE, ranges)
  return [{ text: ADD_SEALS, values: arraysOf(SEAL, ranges) }, ...PRUNE.map((text) => ({ text, values }))]
}

const FORGET_THREADS = `UPDATE leases l SET thread_id = NULL FROM unnest($1::text[], $2::text[]) k (workspace, run_id)
  WHERE l.workspace = k.workspace AND l.run_id = k.run_id AND NOT l.held`
const FORGET_SCOPES = `UPDATE scopes s SET name = 'erased ' || id WHERE id = ANY ($1::bigint[]) AND name LIKE 'thread %'
  AND NOT EXISTS (SELECT FROM runs WHERE scope = s.id AND thread_id IS NOT NULL)`

/** Removes names of threads, which may be names of persons, where runs have lost theirs. */
export function forgetThreads(runs: readonly RunRow[]): Statement[] {
  const nameless = runs.filter(
    ({ stored, summary }) => summary.threadId === null && stored && stored.summary.threadId !== null,
  )
  if (nameless.length === 0) return []
  const keys = [nameless.map(({ workspace }) => workspace), nameless.map(({ runId }) => runId)]
  return [
    { text: FORGET_THREADS, values: keys },
    { text: FORGET_SCOPES, values: [nameless.map(({ scope }) => scope)] },
  ]
}
