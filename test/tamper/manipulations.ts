/** How a database writes what the other one writes differently. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  bytes(hex: string): string
  flag(on: boolean): string
}

export type Verdict =
  /** The database rejects the statement, and nothing is different afterwards. */
  | 'refused'
  /** Nothing that can be read is different, also not for `verify --projections`. */
  | 'harmless'
  /** `verify` names this run, and this seq where one is given; `says` is a part of the detail. */
  | { readonly verify: string; readonly seq?: number; readonly says?: string }
  /** `verify` passes; `verify --projections` names this run and this column or table. */
  | { readonly projections: string; readonly says: string }
  /** Only heads that were signed before and kept elsewhere show it. */
  | { readonly heads: string }
  /** Nothing shows it, for this reason. */
  | { readonly unseen: string }

export interface Manipulation {
  readonly title: string
  readonly sql: (dialect: Dialect) => string
  readonly verdict: Verdict | ((dialect: Dialect) => Verdict)
  /** Triggers are dropped first, as the owner of the database can. */
  readonly unguarded?: true
  /** Where only one of the databases has what is changed. */
  readonly only?: Dialect['name']
}

const run = (runId: string, workspace = 'default'): string =>
  `(SELECT id FROM runs WHERE run_id = '${runId}' AND workspace = '${workspace}')`
const at = (runId: string, seq: number): string =>
  `(SELECT position FROM events WHERE run = ${run(runId)} AND seq = ${seq})`
const scopeOf = (runId: string): string => `(SELECT scope FROM runs WHERE run_id = '${runId}')`
const AUDIT = 'clew:audit'
const MEMORY = 'clew:memory/long/workspace'
const FUTURE = 900_000_000_000
const AWAY = 800_000_000_000

const EVENT =
  'run, seq, schema_version, follows, event_id, event_type, timestamp, origin, runtime, causation_id, recorded_at, payload_hash, hash'
/** A copy of an event under another position, run and seq. */
const copyOf = (position: string, to: { run?: string; seq: string; id?: string }): string =>
  `INSERT INTO events (position, ${EVENT}) SELECT (SELECT max(position) + 1 FROM events), ${to.run ?? 'run'}, ${to.seq},
     schema_version, follows, '${to.id ?? '01890000-0000-7000-8000-0000000000ff'}', event_type, timestamp, origin, runtime,
     causation_id, recorded_at, payload_hash, hash FROM events WHERE position = ${position}`
const swap = (table: string, column: string, a: string, b: string): string =>
  `UPDATE ${table} SET ${column} = ${AWAY} WHERE ${column} = ${a};
   UPDATE ${table} SET ${column} = ${a} WHERE ${column} = ${b};
   UPDATE ${table} SET ${column} = ${b} WHERE ${column} = ${AWAY}`

/** Both rows are read before either is written: in both databases a subquery sees the row as it was. */
const swapPayloads = (a: string, b: string): string =>
  `CREATE TEMPORARY TABLE pair AS SELECT ${a} AS a, ${b} AS b;
   ${swap('payloads', 'position', '(SELECT a FROM pair)', '(SELECT b FROM pair)')}`
const swapEvents = (a: string, b: string): string =>
  `CREATE TEMPORARY TABLE pair AS SELECT ${a} AS a, ${b} AS b;
   ${swap('events', 'position', '(SELECT a FROM pair)', '(SELECT b FROM pair)')};
   ${swap('payloads', 'position', '(SELECT a FROM pair)', '(SELECT b FROM pair)')}`

const set = (table: string, change: string, where: string): Pick<Manipulation, 'title' | 'sql'> => ({
  title: `UPDATE ${table} SET ${change} WHERE ${where}`,
  sql: () => `UPDATE ${table} SET ${change} WHERE ${where}`,
})

/** What triggers refuse, for whoever has no right to drop them. */
const REFUSED: readonly string[] = [
  `UPDATE events SET timestamp = '2001-01-01T00:00:00.000Z' WHERE position = ${at('plain', 2)}`,
  `UPDATE events SET recorded_at = '2001-01-01T00:00:00.000Z' WHERE position = ${at('plain', 2)}`,
  `UPDATE events SET schema_version = 0 WHERE position = ${at('plain', 2)}`,
  `UPDATE events SET seq = 99 WHERE position = ${at('plain', 2)}`,
  `UPDATE events SET run = ${run('child')} WHERE position = ${at('plain', 7)}`,
  `UPDATE events SET position = ${AWAY} WHERE position = ${at('plain', 2)}`,
  `DELETE FROM events WHERE position = ${at('plain', 3)}`,
  `DELETE FROM events WHERE position = ${at('plain', 7)}`,
  `DELETE FROM events WHERE run = ${run('plain')}`,
  `UPDATE payloads SET body = '{}' WHERE position = ${at('plain', 2)}`,
  `UPDATE payloads SET salt = salt WHERE position = ${at('plain', 2)}`,
  `UPDATE payloads SET mac = NULL WHERE position = ${at('secret', 2)}`,
  `DELETE FROM payloads WHERE position = ${at('plain', 2)}`,
  `UPDATE nodes SET body = body WHERE scope = ${scopeOf('shared-1')}`,
  `DELETE FROM nodes WHERE scope = ${scopeOf('shared-1')}`,
  'UPDATE seals SET to_seq = to_seq + 1',
  'DELETE FROM seals',
  "UPDATE erasures SET erased_at = '2001-01-01T00:00:00.000Z'",
  'DELETE FROM erasures',
  "UPDATE pruned_states SET pruned_at = '2001-01-01T00:00:00.000Z'",
  'DELETE FROM pruned_states',
  'UPDATE vault SET position = position + 1',
]

/** Rows that cover others, put in by hand with all triggers in place. */
const COVERS: readonly Manipulation[] = [
  {
    title: 'an erasure by hand: a row of erasures, then the payload goes',
    sql: () =>
      `INSERT INTO erasures VALUES (${at('plain', 2)}, '2026-01-01'); DELETE FROM payloads WHERE position = ${at('plain', 2)}`,
    verdict: { verify: 'plain', seq: 2 },
  },
  {
    title: 'an erasure by hand beside one that was recorded',
    sql: () =>
      `INSERT INTO erasures VALUES (${at('letters', 3)}, '2026-01-01'); DELETE FROM payloads WHERE position = ${at('letters', 3)}`,
    verdict: { verify: 'letters', seq: 3 },
  },
  {
    title: 'an erasure by hand in a memory run in which another item was erased',
    sql: () =>
      `INSERT INTO erasures VALUES (${at(MEMORY, 1)}, '2026-01-01'); DELETE FROM payloads WHERE position = ${at(MEMORY, 1)}`,
    verdict: { verify: MEMORY, seq: 1 },
  },
  {
    title: 'a row of erasures alone, which hides the event from searches',
    sql: () => `INSERT INTO erasures VALUES (${at('plain', 2)}, '2026-01-01')`,
    verdict: { verify: 'plain', seq: 2 },
  },
  {
    title: 'a row of erasures alone, which hides an item of memory',
    sql: () => `INSERT INTO erasures VALUES (${at(MEMORY, 1)}, '2026-01-01')`,
    verdict: { verify: MEMORY, seq: 1 },
  },
  {
    title: 'a state pruned by hand: a row of pruned_states, then the payload goes',
    sql: () =>
      `INSERT INTO pruned_states VALUES (${at('plain', 5)}, '2026-01-01'); DELETE FROM payloads WHERE position = ${at('plain', 5)}`,
    verdict: { verify: 'plain', seq: 5 },
  },
  {
    title: 'a state pruned by hand in a run whose other states were',
    sql: () =>
      `INSERT INTO pruned_states VALUES (${at('states', 10)}, '2026-01-01'); DELETE FROM payloads WHERE position = ${at('states', 10)}`,
    verdict: { verify: 'states', seq: 10 },
  },
  {
    title: 'a row of pruned_states alone, which hides a state',
    sql: () => `INSERT INTO pruned_states VALUES (${at('states', 11)}, '2026-01-01')`,
    verdict: { verify: 'states', seq: 11 },
  },
  {
    title: 'the payload of a pruned state from which kept states are folded',
    sql: () =>
      `DELETE FROM payloads WHERE position = ${at('states', 10)}; INSERT INTO pruned_states SELECT ${FUTURE}, ''`,
    verdict: 'refused',
  },
  {
    title: 'a range pruned by hand: a seal, then the events go',
    sql: ({ bytes }) =>
      `INSERT INTO seals VALUES (${run('plain')}, 2, 3, ${bytes('ab'.repeat(32))});
       DELETE FROM payloads WHERE position IN (SELECT position FROM events WHERE run = ${run('plain')} AND seq IN (2, 3));
       DELETE FROM events WHERE run = ${run('plain')} AND seq IN (2, 3)`,
    verdict: { verify: 'plain', seq: 2 },
  },
  {
    title: 'a range pruned by hand under the right hash',
    sql: () =>
      `INSERT INTO seals SELECT run, 2, 3, hash FROM events WHERE position = ${at('plain', 3)};
       DELETE FROM payloads WHERE position IN (SELECT position FROM events WHERE run = ${run('plain')} AND seq IN (2, 3));
       DELETE FROM events WHERE run = ${run('plain')} AND seq IN (2, 3)`,
    verdict: { verify: 'plain', seq: 2 },
  },
  {
    title: 'the end of a run pruned by hand',
    sql: () =>
      `INSERT INTO seals SELECT run, 6, 7, hash FROM events WHERE position = ${at('plain', 7)};
       DELETE FROM payloads WHERE position IN (SELECT position FROM events WHERE run = ${run('plain')} AND seq IN (6, 7));
       DELETE FROM events WHERE run = ${run('plain')} AND seq IN (6, 7)`,
    verdict: { verify: 'plain', seq: 6 },
  },
  {
    title: 'a seal alone, over events that stay',
    sql: () => `INSERT INTO seals SELECT run, 2, 3, hash FROM events WHERE position = ${at('plain', 3)}`,
    verdict: { verify: 'plain', seq: 2 },
  },
  {
    title: 'a run deleted by hand, all of it under one seal',
    sql: () =>
      `INSERT INTO seals SELECT run, 1, 3, hash FROM events WHERE position = ${at('child', 3)};
       DELETE FROM payloads WHERE position IN (SELECT position FROM events WHERE run = ${run('child')});
       DELETE FROM events WHERE run = ${run('child')};
       UPDATE runs SET status = 'deleted', summary = replace(summary, '"completed"', '"deleted"') WHERE run_id = 'child'`,
    verdict: { verify: 'child', seq: 1 },
  },
  {
    title: 'a row of node_erasures that comes and goes',
    only: 'sqlite',
    sql: () => `INSERT INTO node_erasures VALUES (${AWAY}, ''); DELETE FROM node_erasures`,
    verdict: 'refused',
  },
  {
    title: 'rows of node_erasures, then shared values go',
    only: 'sqlite',
    sql: () =>
      `INSERT INTO node_erasures SELECT id, '' FROM nodes WHERE scope = ${scopeOf('shared-1')}; DELETE FROM nodes WHERE scope = ${scopeOf('shared-1')}`,
    verdict: { verify: 'shared-1', seq: 2 },
  },
  {
    title: 'a row of sweeps, then shared values go',
    sql: () =>
      `INSERT INTO sweeps SELECT ${scopeOf('shared-1')}, 1; DELETE FROM nodes WHERE scope = ${scopeOf('shared-1')}`,
    verdict: { verify: 'shared-1', seq: 2 },
  },
  {
    title: 'a payload put back for an event that was erased',
    sql: () =>
      `INSERT INTO payloads (position, salt, body) SELECT ${at('letters', 2)}, salt, body FROM payloads WHERE position = ${at('letters', 3)}`,
    verdict: { verify: 'letters', seq: 2 },
  },
  {
    title: 'a payload replaced by one with the same position',
    sql: ({ name }) =>
      `INSERT ${name === 'sqlite' ? 'OR REPLACE ' : ''}INTO payloads (position, salt, body) SELECT ${at('plain', 2)}, salt, '{}' FROM payloads WHERE position = ${at('plain', 2)}`,
    verdict: 'refused',
  },
]

/** Rows that belong to nothing. */
const STRAYS: readonly Manipulation[] = [
  {
    title: 'an event behind the head of its run',
    sql: () => copyOf(at('plain', 6), { seq: '8' }),
    verdict: { verify: 'plain', seq: 8 },
  },
  {
    title: 'an event of a run that is not there',
    sql: () => copyOf(at('plain', 6), { run: String(AWAY), seq: '1' }),
    verdict: { verify: '', says: 'belong to no run' },
  },
  {
    title: 'an event at a seq that is taken',
    sql: () => copyOf(at('plain', 6), { seq: '3' }),
    verdict: 'refused',
  },
  {
    title: 'an event with an id that is taken',
    sql: () => `INSERT INTO events (position, ${EVENT}) SELECT (SELECT max(position) + 1 FROM events), run, 8, schema_version, follows, event_id,
      event_type, timestamp, origin, runtime, causation_id, recorded_at, payload_hash, hash FROM events WHERE position = ${at('plain', 6)}`,
    verdict: 'refused',
  },
  {
    title: 'a payload without an event',
    sql: () =>
      `INSERT INTO payloads (position, salt, body) SELECT ${AWAY}, salt, body FROM payloads WHERE position = ${at('plain', 2)}`,
    verdict: { projections: '', says: 'payloads' },
  },
  {
    title: 'a payload for the position that the next event will get',
    sql: () =>
      `INSERT INTO payloads (position, salt, body) SELECT (SELECT max(position) + 1 FROM events), salt, body FROM payloads WHERE position = ${at('plain', 2)}`,
    verdict: { projections: '', says: 'payloads' },
  },
  {
    title: 'a shared value that nothing refers to',
    sql: ({ bytes }) =>
      `INSERT INTO nodes (id, scope, hash, body) SELECT max(id) + 1, ${scopeOf('shared-1')}, ${bytes('cd'.repeat(32))}, '"x"' FROM nodes`,
    verdict: { projections: '', says: 'nodes' },
  },
  {
    title: 'a shared value in a scope of no run',
    sql: ({ bytes }) =>
      `INSERT INTO nodes (id, scope, hash, body) SELECT max(id) + 1, ${AWAY}, ${bytes('cd'.repeat(32))}, '"x"' FROM nodes`,
    verdict: { projections: '', says: 'nodes' },
  },
  {
    title: 'a row of erasures for an event to come',
    sql: () => `INSERT INTO erasures VALUES (${FUTURE}, '2026-01-01')`,
    verdict: { verify: '', says: 'erasures' },
  },
  {
    title: 'a row of pruned_states for an event to come',
    sql: () => `INSERT INTO pruned_states VALUES (${FUTURE}, '2026-01-01')`,
    verdict: { verify: '', says: 'pruned_states' },
  },
  {
    title: 'a seal of a run that is not there',
    sql: ({ bytes }) => `INSERT INTO seals VALUES (${AWAY}, 1, 2, ${bytes('00')})`,
    verdict: { projections: '', says: 'seals' },
  },
  {
    title: 'a run without events',
    sql: ({ name }) =>
      `INSERT INTO runs (id, workspace, run_id, scope, seq, hash, recorded_at, status, started_ms, summary${name === 'postgres' ? ', epoch, held' : ''})
       SELECT ${AWAY}, workspace, 'ghost', scope, 1, hash, recorded_at, status, started_ms, replace(summary, '"plain"', '"ghost"')${name === 'postgres' ? ', 0, false' : ''}
       FROM runs WHERE run_id = 'plain'`,
    verdict: { verify: 'ghost', seq: 1 },
  },
  {
    title: 'a subject of a run that is not there',
    sql: () => `INSERT INTO subjects VALUES (${AWAY}, 'ann')`,
    verdict: { projections: '', says: 'subjects' },
  },
  {
    title: 'a step of a run that is not there',
    sql: () =>
      `INSERT INTO steps (run, step_id, attempt, started_seq, record) SELECT ${AWAY}, step_id, attempt, started_seq, record FROM steps WHERE run = ${run('plain')}`,
    verdict: { projections: '', says: 'steps' },
  },
  {
    title: 'a vault row without an event',
    sql: ({ bytes }) => `INSERT INTO vault VALUES (${AWAY}, 'key-1', ${bytes('00')})`,
    verdict: { verify: '', says: 'vault' },
  },
  {
    title: 'a vault row of an event whose payload was erased',
    sql: () =>
      `INSERT INTO vault SELECT ${at('letters', 2)}, key_id, data FROM vault WHERE position = ${at('secret', 2)}`,
    verdict: { verify: 'letters', seq: 2 },
  },
  {
    title: 'a scope that no run is in',
    sql: () => `INSERT INTO scopes (id, workspace, name) VALUES (${AWAY}, 'default', 'thread nobody')`,
    verdict: 'harmless',
  },
  {
    title: 'items of memory of a book that is not there',
    sql: () =>
      `INSERT INTO memory_scopes (workspace, book, seq, version) VALUES ('default', 'clew:memory/long/user:eve', 1, 1);
       UPDATE memory_items SET scope = (SELECT id FROM memory_scopes WHERE book = 'clew:memory/long/user:eve') WHERE key = 'red'`,
    verdict: { projections: MEMORY, says: 'memory' },
  },
  {
    title: 'an item of memory in no scope',
    sql: () => `UPDATE memory_items SET scope = ${AWAY} WHERE key = 'red'`,
    verdict: { projections: MEMORY, says: 'memory' },
  },
]

/** Columns of runs. */
const inRun = (change: string, says: string, runId = 'plain'): Manipulation => ({
  ...set('runs', change, `run_id = '${runId}' AND workspace = 'default'`),
  verdict: { projections: runId, says },
})
const RUNS: readonly Manipulation[] = [
  inRun("status = 'failed'", 'status'),
  inRun("status = 'deleted'", 'status'),
  inRun("agent = 'fox'", 'agent'),
  inRun('agent = NULL', 'agent'),
  inRun("agent_version = '2'", 'agent_version'),
  inRun("thread_id = 't2'", 'thread_id'),
  inRun('thread_id = NULL', 'thread_id'),
  inRun("parent_run_id = 'shared-1'", 'parent_run_id'),
  inRun('parent_run_id = NULL', 'parent_run_id', 'child'),
  inRun('started_ms = started_ms + 1000', 'started_ms'),
  inRun('started_ms = 4102444800000', 'started_ms'),
  inRun('due_ms = 1', 'due_ms'),
  inRun('due_ms = NULL', 'due_ms', 'waiting'),
  inRun("recorded_at = '2100-01-01T00:00:00.000Z'", 'recorded_at'),
  inRun("recorded_at = '2001-01-01T00:00:00.000Z'", 'recorded_at'),
  inRun(`scope = ${scopeOf('shared-1')}`, 'scope'),
  inRun(
    "status = 'completed', summary = replace(summary, '\"pending\"', '\"completed\"')",
    'status',
    'waiting',
  ),
  inRun('summary = replace(summary, \'"messages":2\', \'"messages":3\')', 'messages'),
  inRun('summary = replace(summary, \'"inputTokens":0\', \'"inputTokens":9\')', 'inputTokens'),
  // Of these, events or payloads are gone: what is left must still agree.
  inRun("status = 'failed'", 'status', 'states'),
  inRun("agent = 'fox', summary = replace(summary, '\"graph\"', '\"fox\"')", 'agent', 'states'),
  inRun("status = 'failed', summary = replace(summary, '\"completed\"', '\"failed\"')", 'status', 'states'),
  inRun("thread_id = 't1'", 'thread_id', 'cut'),
  inRun("status = 'deleted', summary = replace(summary, '\"completed\"', '\"deleted\"')", 'status', 'cut'),
  inRun("status = 'completed', summary = replace(summary, '\"deleted\"', '\"completed\"')", 'status', 'old'),
  inRun("agent = 'fox', summary = replace(summary, '\"owl\"', '\"fox\"')", 'agent', 'erased'),
  {
    ...set('runs', 'fork_of = NULL, fork_seq = NULL', "run_id = 'fork'"),
    verdict: { verify: 'fork', seq: 1 },
  },
  { ...set('runs', `fork_of = ${run('child')}`, "run_id = 'fork'"), verdict: { verify: 'fork', seq: 4 } },
  { ...set('runs', 'fork_seq = 2', "run_id = 'fork'"), verdict: { verify: 'fork', seq: 3 } },
  {
    ...set('runs', `fork_of = ${run('shared-1')}, fork_seq = 1`, "run_id = 'child'"),
    verdict: { verify: 'child' },
  },
  { ...set('runs', 'seq = 6', "run_id = 'plain'"), verdict: { verify: 'plain', seq: 7 } },
  { ...set('runs', 'seq = 9', "run_id = 'plain'"), verdict: { verify: 'plain', seq: 8 } },
  {
    ...set('runs', `hash = (SELECT hash FROM events WHERE position = ${at('plain', 6)})`, "run_id = 'plain'"),
    verdict: { verify: 'plain', seq: 7 },
  },
  { ...set('runs', "run_id = 'renamed'", "run_id = 'child'"), verdict: { verify: 'child', seq: 1 } },
  {
    ...set(
      'runs',
      "run_id = 'renamed', summary = replace(summary, '\"child\"', '\"renamed\"')",
      "run_id = 'child'",
    ),
    verdict: { verify: 'renamed', seq: 1 },
  },
  {
    ...set('runs', "workspace = 'other'", "run_id = 'child'"),
    verdict: { heads: 'child' },
  },
  {
    title: 'two runs under each other’s names',
    sql: () =>
      `UPDATE runs SET run_id = 'x' WHERE run_id = 'shared-1'; UPDATE runs SET run_id = 'shared-1' WHERE run_id = 'shared-2'; UPDATE runs SET run_id = 'shared-2' WHERE run_id = 'x'`,
    verdict: { verify: 'shared-1', seq: 1 },
  },
  {
    title: 'a run’s row is gone, its events stay',
    sql: () => `DELETE FROM subjects WHERE run = ${run('child')}; DELETE FROM runs WHERE run_id = 'child'`,
    verdict: { verify: '', says: 'belong to no run' },
  },
]

const SUBJECTS: readonly Manipulation[] = [
  {
    title: 'a subject is gone from the index',
    sql: () => `DELETE FROM subjects WHERE run = ${run('plain')}`,
    verdict: { projections: 'plain', says: 'subjects' },
  },
  {
    title: 'a subject has another name',
    sql: () => `UPDATE subjects SET subject = 'eve' WHERE run = ${run('plain')}`,
    verdict: { projections: 'plain', says: 'subjects' },
  },
  {
    title: 'a subject is added to a run',
    sql: () => `INSERT INTO subjects VALUES (${run('child')}, 'ann')`,
    verdict: { projections: 'child', says: 'subjects' },
  },
  {
    title: 'a subject is added to a run of which states went',
    sql: () => `INSERT INTO subjects VALUES (${run('states')}, 'ann')`,
    verdict: { projections: 'states', says: 'subjects' },
  },
  {
    title: 'an erased subject is put back',
    sql: () => `INSERT INTO subjects VALUES (${run('erased')}, 'bob')`,
    verdict: { projections: 'erased', says: 'subjects' },
  },
]

/** Rows of `tags` and `scores`, by which runs are found. */
const TAGS_AND_SCORES: readonly Manipulation[] = [
  {
    title: 'a tag has another value',
    sql: () => `UPDATE tags SET value = 'fish'`,
    verdict: { projections: 'tagged', says: 'tags' },
  },
  {
    title: 'a tag is gone from the index',
    sql: () => 'DELETE FROM tags',
    verdict: { projections: 'tagged', says: 'tags' },
  },
  {
    title: 'a tag is added to a run',
    sql: () => `INSERT INTO tags VALUES (${run('plain')}, 'team', 'birds')`,
    verdict: { projections: 'plain', says: 'tags' },
  },
  {
    title: 'a score is ordered by another number',
    sql: () => 'UPDATE scores SET number = 0.9',
    verdict: { projections: 'tagged', says: 'scores' },
  },
  {
    title: 'a score is gone from the index',
    sql: () => 'DELETE FROM scores',
    verdict: { projections: 'tagged', says: 'scores' },
  },
  {
    title: 'a tag of a run that is not there',
    sql: () => `INSERT INTO tags VALUES (${AWAY}, 'team', 'birds')`,
    verdict: { projections: '', says: 'tags' },
  },
]

const STEPS: readonly Manipulation[] = [
  {
    title: 'a step is gone',
    sql: () => `DELETE FROM steps WHERE run = ${run('plain')}`,
    verdict: { projections: 'plain', says: 'steps' },
  },
  {
    title: 'a step has another status',
    sql: () =>
      `UPDATE steps SET record = replace(record, '{', '{"st":"failed",') WHERE run = ${run('plain')}`,
    verdict: { projections: 'plain', says: 'steps' },
  },
  {
    title: 'a step began elsewhere',
    sql: () => `UPDATE steps SET started_seq = 2 WHERE run = ${run('plain')}`,
    verdict: { projections: 'plain', says: 'steps' },
  },
  {
    title: 'a step has another name',
    sql: () => `UPDATE steps SET step_id = 'tell#0' WHERE run = ${run('plain')}`,
    verdict: { projections: 'plain', says: 'steps' },
  },
  {
    title: 'a step is another attempt',
    sql: () => `UPDATE steps SET attempt = 2 WHERE run = ${run('plain')}`,
    verdict: { projections: 'plain', says: 'steps' },
  },
  {
    title: 'a step belongs to another run',
    sql: () => `UPDATE steps SET run = ${run('child')} WHERE run = ${run('plain')}`,
    verdict: { projections: 'child', says: 'steps' },
  },
  {
    title: 'the digest of a step’s input is another',
    sql: ({ bytes }) => `UPDATE steps SET digest = ${bytes('00'.repeat(16))} WHERE run = ${run('plain')}`,
    verdict: { projections: 'plain', says: 'steps' },
  },
  {
    title: 'the span of a step is another',
    sql: ({ bytes }) => `UPDATE steps SET span = ${bytes('00'.repeat(16))} WHERE run = ${run('plain')}`,
    verdict: { projections: 'plain', says: 'steps' },
  },
  {
    title: 'a step is added',
    sql: () =>
      `INSERT INTO steps (run, step_id, attempt, started_seq, record, span, digest) SELECT run, 'more#0', attempt, 6, record, span, digest FROM steps WHERE run = ${run('plain')}`,
    verdict: { projections: 'plain', says: 'steps' },
  },
  {
    title: 'the step around a step is another',
    only: 'postgres',
    sql: () => `UPDATE steps SET parent = 'more#0' WHERE run = ${run('plain')}`,
    verdict: { projections: 'plain', says: 'parent' },
  },
  {
    title: 'a step of a run of which states went is gone',
    sql: () => `DELETE FROM steps WHERE run = ${run('states')} AND started_seq = 11`,
    verdict: { projections: 'states', says: 'steps' },
  },
]

const MEMORIES: readonly Manipulation[] = [
  {
    title: 'an item of memory is gone',
    sql: () => "DELETE FROM memory_items WHERE key = 'red'",
    verdict: { projections: MEMORY, says: 'memory' },
  },
  {
    title: 'an item of memory has another key',
    sql: () => "UPDATE memory_items SET key = 'green' WHERE key = 'red'",
    verdict: { projections: MEMORY, says: 'memory' },
  },
  {
    title: 'an item of memory expires',
    sql: () => "UPDATE memory_items SET expires_at = '2001-01-01T00:00:00.000Z' WHERE key = 'red'",
    verdict: { projections: MEMORY, says: 'memory' },
  },
  {
    title: 'an item of memory is about somebody',
    sql: ({ name }) =>
      `UPDATE memory_items SET subjects = ${name === 'sqlite' ? '\'["eve"]\'' : "'{eve}'"} WHERE key = 'red'`,
    verdict: { projections: MEMORY, says: 'memory' },
  },
  {
    title: 'rows of memory say they stand before the first event',
    sql: () => `UPDATE memory_scopes SET seq = 0; UPDATE memory_items SET key = 'green' WHERE key = 'red'`,
    // Readers drop such rows and fold again from the first event.
    verdict: 'harmless',
  },
  {
    title: 'rows of memory say they lack the last events',
    sql: () => 'UPDATE memory_scopes SET seq = 1',
    verdict: { projections: MEMORY, says: 'memory' },
  },
  {
    title: 'rows of memory say they are beyond the last event',
    sql: () => 'UPDATE memory_scopes SET seq = 99',
    verdict: { projections: MEMORY, says: 'memory' },
  },
]

/** Words by which events and items of memory are found. */
const either =
  (sqlite: string, postgres: string): Manipulation['sql'] =>
  ({ name }) =>
    name === 'sqlite' ? sqlite : postgres
const RED = "(SELECT position FROM memory_items WHERE key = 'red')"
const WORDS: readonly Manipulation[] = [
  {
    title: 'an event is gone from the search index',
    sql: either(
      `DELETE FROM words WHERE rowid = ${at('plain', 2)}`,
      `DELETE FROM search_words WHERE position = ${at('plain', 2)}`,
    ),
    verdict: { projections: 'plain', says: 'search index' },
  },
  {
    title: 'an event is found by other words',
    sql: either(
      `UPDATE words SET message = 'third' WHERE rowid = ${at('plain', 2)}`,
      `UPDATE search_words SET words = words || '''third'':9C'::tsvector WHERE position = ${at('plain', 2)}`,
    ),
    verdict: { projections: 'plain', says: 'search index' },
  },
  {
    title: 'two events are found by each other’s words',
    sql: either(
      `CREATE TEMPORARY TABLE pair AS SELECT rowid AS id, message FROM words WHERE rowid IN (${at('plain', 2)}, ${at('plain', 3)});
       UPDATE words SET message = (SELECT p.message FROM pair p WHERE p.id <> words.rowid) WHERE rowid IN (SELECT id FROM pair)`,
      `CREATE TEMPORARY TABLE pair AS SELECT position, words FROM search_words WHERE position IN (${at('plain', 2)}, ${at('plain', 3)});
       UPDATE search_words w SET words = (SELECT p.words FROM pair p WHERE p.position <> w.position) WHERE position IN (SELECT position FROM pair)`,
    ),
    verdict: { projections: 'plain', says: 'search index' },
  },
  {
    title: 'the search index lacks a tool',
    sql: either('DELETE FROM tools', 'DELETE FROM search_tools'),
    verdict: { projections: 'tools', says: 'search index' },
  },
  {
    title: 'the words of an event wait to be removed, whose payload is there',
    sql: () => `INSERT INTO search_removals VALUES (${at('plain', 2)})`,
    verdict: 'harmless',
  },
  {
    title: 'an item of memory is found by no word',
    sql: either(
      `DELETE FROM memory_words WHERE rowid = ${RED}`,
      "UPDATE memory_items SET words = '' WHERE key = 'red'",
    ),
    verdict: { projections: MEMORY, says: 'memory' },
  },
  {
    title: 'an item of memory is found by other words',
    sql: either(
      `UPDATE memory_words SET text = 'green' WHERE rowid = ${RED}`,
      "UPDATE memory_items SET words = words || '''green'':9D'::tsvector WHERE key = 'red'",
    ),
    verdict: { projections: MEMORY, says: 'memory' },
  },
  {
    title: 'an item of memory is found in another scope',
    only: 'sqlite',
    sql: () => `UPDATE memory_words SET place = 'elsewhere' WHERE rowid = ${RED}`,
    verdict: { projections: MEMORY, says: 'memory' },
  },
]

/** What the owner of a database can do to events and values after dropping the triggers. */
const inEvent = (change: string, seq = 2, runId = 'plain'): Manipulation => ({
  ...set('events', change, `position = ${at(runId, seq)}`),
  unguarded: true,
  verdict: { verify: runId, seq },
})
const EVENTS: readonly Manipulation[] = [
  inEvent("event_type = 'execution.other'"),
  inEvent("timestamp = '2001-01-01T00:00:00.000Z'"),
  inEvent("recorded_at = '2001-01-01T00:00:00.000Z'"),
  inEvent("recorded_at = '2100-01-01T00:00:00.000Z'", 7),
  inEvent('schema_version = 0'),
  inEvent("origin = 'user'"),
  inEvent("runtime = 'other'"),
  inEvent("causation_id = '01890000-0000-7000-8000-0000000000ff'"),
  inEvent("event_id = '01890000-0000-7000-8000-0000000000ff'"),
  inEvent(`payload_hash = (SELECT payload_hash FROM events WHERE position = ${at('plain', 3)})`),
  inEvent(`hash = (SELECT hash FROM events WHERE position = ${at('plain', 3)})`),
  {
    title: 'an effect is no longer found from its cause',
    unguarded: true,
    sql: ({ flag }) => `UPDATE events SET follows = ${flag(true)} WHERE position = ${at('plain', 6)}`,
    verdict: { projections: 'plain', says: 'follows' },
  },
  {
    title: 'the first event is gone',
    unguarded: true,
    sql: () => `DELETE FROM events WHERE position = ${at('plain', 1)}`,
    verdict: { verify: 'plain', seq: 1 },
  },
  {
    title: 'an event in the middle is gone',
    unguarded: true,
    sql: () => `DELETE FROM events WHERE position = ${at('plain', 3)}`,
    verdict: { verify: 'plain', seq: 3 },
  },
  {
    title: 'an event in the middle is gone, and those behind it are renumbered with the head',
    unguarded: true,
    sql: () => `DELETE FROM events WHERE position = ${at('plain', 5)};
      UPDATE events SET seq = 5 WHERE position = ${at('plain', 6)}; UPDATE events SET seq = 6 WHERE position = ${at('plain', 7)};
      UPDATE runs SET seq = 6 WHERE run_id = 'plain'`,
    verdict: { verify: 'plain', seq: 5 },
  },
  {
    title: 'two events have changed places',
    unguarded: true,
    sql: () => `CREATE TEMPORARY TABLE pair AS SELECT ${at('plain', 2)} AS a, ${at('plain', 3)} AS b;
      UPDATE events SET seq = 99 WHERE position = (SELECT a FROM pair); UPDATE events SET seq = 2 WHERE position = (SELECT b FROM pair);
      UPDATE events SET seq = 3 WHERE position = (SELECT a FROM pair)`,
    verdict: { verify: 'plain', seq: 2 },
  },
  {
    title: 'an event is put in between, and those behind it are renumbered with the head',
    unguarded: true,
    sql: () => `UPDATE events SET seq = -seq WHERE run = ${run('child')} AND seq >= 2;
      UPDATE events SET seq = 1 - seq WHERE run = ${run('child')} AND seq < 0;
      ${copyOf(at('plain', 2), { run: run('child'), seq: '2' })};
      UPDATE runs SET seq = 4 WHERE run_id = 'child'`,
    verdict: { verify: 'child', seq: 2 },
  },
  {
    title: 'an event is there twice, the copy at the end with the head',
    unguarded: true,
    sql: () =>
      `${copyOf(at('plain', 6), { seq: '8' })}; UPDATE runs SET seq = 8, hash = (SELECT hash FROM events WHERE position = ${at('plain', 6)}) WHERE run_id = 'plain'`,
    verdict: { verify: 'plain', seq: 8 },
  },
  {
    title: 'an event stands in another run',
    unguarded: true,
    sql: () => `UPDATE events SET run = ${run('child')}, seq = 4 WHERE position = ${at('plain', 7)}`,
    verdict: { verify: 'plain', seq: 7 },
  },
  {
    title: 'two runs have each other’s events',
    unguarded: true,
    sql: () => `CREATE TEMPORARY TABLE pair AS SELECT ${run('shared-1')} AS a, ${run('shared-2')} AS b;
      UPDATE events SET run = ${AWAY} WHERE run = (SELECT a FROM pair); UPDATE events SET run = (SELECT a FROM pair) WHERE run = (SELECT b FROM pair);
      UPDATE events SET run = (SELECT b FROM pair) WHERE run = ${AWAY}`,
    verdict: { verify: 'shared-1', seq: 1 },
  },
  {
    title: 'two events of a run have each other’s positions',
    unguarded: true,
    sql: () => swapEvents(at('plain', 2), at('plain', 3)),
    verdict: { verify: 'plain', seq: 3 },
  },
  {
    title: 'two events of different runs have each other’s positions',
    unguarded: true,
    sql: () => swapEvents(at('shared-1', 3), at('waiting', 1)),
    verdict: { projections: 'waiting', says: 'search index' },
  },
  {
    title: 'two events of different runs have each other’s positions, also in the search index',
    unguarded: true,
    sql: ({ name }) => {
      const [table, key] = name === 'sqlite' ? ['words', 'rowid'] : ['search_words', 'position']
      return `${swapEvents(at('shared-1', 3), at('waiting', 1))};
        ${swap(table, key, '(SELECT a FROM pair)', '(SELECT b FROM pair)')}`
    },
    verdict: { unseen: 'the position of an event among those of other runs is in no hash' },
  },
  {
    title: 'the last event is gone',
    unguarded: true,
    sql: () => `DELETE FROM events WHERE position = ${at('plain', 7)}`,
    verdict: { verify: 'plain', seq: 7 },
  },
  {
    title: 'the last event is gone with its head and the rows that it made',
    unguarded: true,
    sql: () => `DELETE FROM payloads WHERE position = ${at('fork', 6)}; DELETE FROM events WHERE position = ${at('fork', 6)};
      UPDATE runs SET seq = 5, hash = (SELECT hash FROM events WHERE position = ${at('fork', 5)}) WHERE run_id = 'fork'`,
    verdict: { heads: 'fork' },
  },
  {
    title: 'a run is gone with all its rows',
    unguarded: true,
    sql: () => `DELETE FROM payloads WHERE position IN (SELECT position FROM events WHERE run = ${run('waiting')});
      DELETE FROM steps WHERE run = ${run('waiting')}; DELETE FROM events WHERE run = ${run('waiting')}; DELETE FROM runs WHERE run_id = 'waiting'`,
    verdict: { heads: 'waiting' },
  },
  {
    title: 'a run that was erased is gone with all its rows',
    unguarded: true,
    sql: () => `DELETE FROM erasures WHERE position IN (SELECT position FROM events WHERE run = ${run('erased')});
      DELETE FROM events WHERE run = ${run('erased')}; DELETE FROM runs WHERE run_id = 'erased'`,
    verdict: { verify: 'erased' },
  },
]

const PAYLOADS: readonly Manipulation[] = [
  {
    ...set('payloads', `body = replace(body, 'first', 'third')`, `position = ${at('plain', 2)}`),
    unguarded: true,
    verdict: { verify: 'plain', seq: 2 },
  },
  {
    ...set(
      'payloads',
      `salt = (SELECT salt FROM payloads WHERE position = ${at('plain', 3)})`,
      `position = ${at('plain', 2)}`,
    ),
    unguarded: true,
    verdict: { verify: 'plain', seq: 2 },
  },
  {
    ...set('payloads', 'mac = NULL', `position = ${at('secret', 2)}`),
    unguarded: true,
    // The digest of what was sent before redaction judges retries, and nothing that is read.
    verdict: 'harmless',
  },
  {
    ...set(
      'payloads',
      `mac = (SELECT mac FROM payloads WHERE position = ${at('secret', 2)})`,
      `position = ${at('secret', 4)}`,
    ),
    unguarded: true,
    // The digest of what was sent before redaction judges retries, and nothing that is read.
    verdict: 'harmless',
  },
  {
    title: 'two payloads of a run have changed places',
    unguarded: true,
    sql: () => swapPayloads(at('plain', 2), at('plain', 3)),
    verdict: { verify: 'plain', seq: 2 },
  },
  {
    title: 'two payloads of different runs have changed places',
    unguarded: true,
    sql: () => swapPayloads(at('plain', 6), at('fork', 5)),
    verdict: { verify: 'plain', seq: 6 },
  },
  {
    title: 'a payload is gone',
    unguarded: true,
    sql: () => `DELETE FROM payloads WHERE position = ${at('plain', 2)}`,
    verdict: { verify: 'plain', seq: 2 },
  },
  {
    title: 'a shared value has another content',
    unguarded: true,
    sql: () => `UPDATE nodes SET body = replace(body, 'shared 7', 'shared 8') WHERE body LIKE '%shared 7%'`,
    verdict: { verify: 'shared-1', seq: 2 },
  },
  {
    title: 'a shared value has another hash, under which it would be shared',
    unguarded: true,
    sql: ({ bytes }) =>
      `UPDATE nodes SET hash = ${bytes('cd'.repeat(32))} WHERE id = (SELECT min(id) FROM nodes WHERE scope = ${scopeOf('shared-1')})`,
    verdict: { verify: 'shared-1', seq: 2 },
  },
  {
    title: 'a shared value stands in another scope',
    unguarded: true,
    sql: () =>
      `UPDATE nodes SET scope = ${scopeOf('plain')} WHERE id = (SELECT min(id) FROM nodes WHERE scope = ${scopeOf('shared-1')})`,
    verdict: { projections: '', says: 'nodes' },
  },
  {
    title: 'two shared values have changed places',
    unguarded: true,
    sql: () => `CREATE TEMPORARY TABLE pair AS SELECT min(id) AS a, max(id) AS b FROM nodes WHERE scope = ${scopeOf('shared-1')};
      ${swap('nodes', 'id', '(SELECT a FROM pair)', '(SELECT b FROM pair)')}`,
    verdict: { verify: 'shared-1', seq: 2 },
  },
  {
    title: 'shared values are gone',
    unguarded: true,
    sql: () => `DELETE FROM nodes WHERE scope = ${scopeOf('shared-1')}`,
    verdict: { verify: 'shared-1', seq: 2 },
  },
]

/** What says that something is gone. */
const RECORDS: readonly Manipulation[] = [
  {
    title: 'a row of erasures is gone',
    unguarded: true,
    sql: () => `DELETE FROM erasures WHERE position = ${at('letters', 2)}`,
    verdict: { verify: 'letters', seq: 2 },
  },
  {
    title: 'an erasure is undone with the payload that was kept elsewhere',
    unguarded: true,
    sql: () =>
      `DELETE FROM erasures WHERE position = ${at('letters', 2)};
       INSERT INTO payloads (position, salt, body) SELECT ${at('letters', 2)}, salt, body FROM payloads WHERE position = ${at('letters', 3)}`,
    verdict: { verify: 'letters', seq: 2, says: 'erased' },
  },
  {
    title: 'a row of pruned_states is gone',
    unguarded: true,
    sql: () => `DELETE FROM pruned_states WHERE position = ${at('states', 9)}`,
    verdict: { verify: 'states', seq: 9 },
  },
  {
    title: 'the seals are gone',
    unguarded: true,
    sql: () => `DELETE FROM seals WHERE run = ${run('cut')}`,
    verdict: { verify: 'cut', seq: 2 },
  },
  {
    title: 'a seal names another hash',
    unguarded: true,
    sql: ({ bytes }) => `UPDATE seals SET head_hash = ${bytes('ab'.repeat(32))} WHERE run = ${run('cut')}`,
    verdict: { verify: 'cut', seq: 2 },
  },
  {
    title: 'a seal is widened over an event that goes',
    unguarded: true,
    sql: () => `UPDATE seals SET to_seq = 4, head_hash = (SELECT hash FROM events WHERE position = ${at('cut', 4)}) WHERE run = ${run('cut')};
      DELETE FROM payloads WHERE position = ${at('cut', 4)}; DELETE FROM events WHERE position = ${at('cut', 4)}`,
    verdict: { verify: 'cut', seq: 2 },
  },
  {
    title: 'a seal stands at another run',
    unguarded: true,
    sql: () => `UPDATE seals SET run = ${run('plain')} WHERE run = ${run('cut')}`,
    verdict: { verify: 'cut', seq: 2 },
  },
  {
    title: 'the audit run lost its last event, with its head',
    unguarded: true,
    sql: () => `DELETE FROM payloads WHERE position = (SELECT max(position) FROM events WHERE run = ${run(AUDIT)});
      DELETE FROM events WHERE position = (SELECT max(position) FROM events WHERE run = ${run(AUDIT)});
      UPDATE runs SET seq = seq - 1, hash = (SELECT hash FROM events e WHERE e.run = runs.id AND e.seq = runs.seq - 1) WHERE run_id = '${AUDIT}'`,
    verdict: { verify: 'old', seq: 1 },
  },
  {
    title: 'the audit run is gone with all its rows',
    unguarded: true,
    sql: () => `DELETE FROM payloads WHERE position IN (SELECT position FROM events WHERE run = ${run(AUDIT)});
      DELETE FROM events WHERE run = ${run(AUDIT)}; DELETE FROM runs WHERE run_id = '${AUDIT}'`,
    verdict: { verify: 'erased', seq: 1 },
  },
  {
    title: 'the audit run says that more was erased',
    unguarded: true,
    sql: () =>
      `UPDATE payloads SET body = replace(body, '"letters"', '"plain"') WHERE position = ${at(AUDIT, 1)}`,
    verdict: { verify: AUDIT, seq: 1 },
  },
  {
    title: 'the time of an erasure is another',
    unguarded: true,
    sql: () => `UPDATE erasures SET erased_at = '2001-01-01'`,
    verdict: 'harmless',
  },
]

const BESIDE: readonly Manipulation[] = [
  {
    title: 'the epoch of a lease is higher',
    sql: () => 'UPDATE leases SET epoch = epoch + 5',
    verdict: 'harmless',
  },
  { title: 'a lease is gone', sql: () => 'DELETE FROM leases', verdict: 'harmless' },
  {
    title: 'a consumer stands elsewhere',
    sql: () => `UPDATE slots SET value = '{"position":1}' WHERE name = 'consumer/reader'`,
    verdict: 'harmless',
  },
  {
    title: 'a consumer is gone',
    sql: () => "DELETE FROM slots WHERE name = 'consumer/reader'",
    verdict: 'harmless',
  },
  {
    title: 'a scope waits for a sweep',
    sql: () => `INSERT INTO sweeps SELECT ${scopeOf('plain')}, 1`,
    verdict: 'harmless',
  },
  {
    title: 'the folds have another version',
    sql: () => `UPDATE slots SET value = '{"version":0,"rebuilding":null}' WHERE name = 'projections'`,
    verdict: 'harmless',
  },
  {
    title: 'a scope has another name',
    sql: () => "UPDATE scopes SET name = 'thread t8' WHERE name = 'thread t2'",
    verdict: { projections: 'shared-1', says: 'scope' },
  },
  {
    title: 'a vault row is gone: its event keeps its placeholders',
    sql: () => `DELETE FROM vault WHERE position = ${at('secret', 2)}`,
    verdict: 'harmless',
  },
  {
    title: 'a vault row holds something else',
    sql: ({ bytes }) =>
      `UPDATE vault SET data = ${bytes('00'.repeat(80))} WHERE position = ${at('secret', 2)}`,
    verdict: { verify: 'secret', seq: 2 },
  },
  {
    title: 'two vault rows have changed places',
    sql: () => `CREATE TEMPORARY TABLE pair AS SELECT position, data FROM vault;
      UPDATE vault SET data = (SELECT p.data FROM pair p WHERE p.position <> vault.position)`,
    verdict: { verify: 'secret', seq: 2 },
  },
  {
    title: 'the lease of a run as its row has it',
    only: 'postgres',
    sql: () => "UPDATE runs SET epoch = 9, held = true, revision = 3 WHERE run_id = 'plain'",
    verdict: 'harmless',
  },
]

export const MANIPULATIONS: readonly Manipulation[] = [
  ...REFUSED.map((sql): Manipulation => ({ title: sql, sql: () => sql, verdict: 'refused' })),
  ...COVERS,
  ...STRAYS,
  ...RUNS,
  ...SUBJECTS,
  ...TAGS_AND_SCORES,
  ...STEPS,
  ...MEMORIES,
  ...WORDS,
  ...EVENTS,
  ...PAYLOADS,
  ...RECORDS,
  ...BESIDE,
]
