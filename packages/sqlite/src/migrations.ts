import { NEW_PROJECTIONS } from '@clew/ledger'

/** Triggers of a table whose rows never change and are never deleted; `isTaken` compares the key of a new row. */
const appendOnly = (table: string, what: string, isTaken: string): string => `
CREATE TRIGGER ${table}_never_change BEFORE UPDATE ON ${table}
BEGIN SELECT RAISE(ABORT, 'clew: ${what} are append-only'); END;
CREATE TRIGGER ${table}_never_go BEFORE DELETE ON ${table}
BEGIN SELECT RAISE(ABORT, 'clew: ${what} are append-only'); END;
CREATE TRIGGER ${table}_never_replaced BEFORE INSERT ON ${table}
WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${isTaken})
BEGIN SELECT RAISE(ABORT, 'clew: ${what} are append-only'); END;`

/**
 * The schema, as numbered migrations: the first one makes it, each later one changes what the ones before it made.
 * They are strings and not files, so that the package works when it is bundled.
 *
 * A refused insert rolls its transaction back (RAISE(ROLLBACK)) where inserts are frequent: for ABORT, SQLite would copy
 * every page before a statement with triggers changes it.
 */
export const MIGRATIONS: readonly string[] = [
  `
-- Equal values are stored once per scope: a thread, or a run without a thread.
CREATE TABLE scopes (id INTEGER PRIMARY KEY, workspace TEXT NOT NULL, name TEXT NOT NULL);
CREATE UNIQUE INDEX scopes_by_name ON scopes (workspace, name);

-- One row per run: its head (seq, hash, recorded_at), and its summary. The columns from status on repeat fields of the
-- summary for filters and indexes. due_ms is the time from which a worker may continue the run; null if it may not.
CREATE TABLE runs (
  id            INTEGER PRIMARY KEY,
  workspace     TEXT NOT NULL,
  run_id        TEXT NOT NULL,
  scope         INTEGER NOT NULL REFERENCES scopes (id),
  fork_of       INTEGER REFERENCES runs (id),
  fork_seq      INTEGER,
  seq           INTEGER NOT NULL,
  hash          BLOB NOT NULL,
  recorded_at   TEXT NOT NULL,
  summary       TEXT NOT NULL,
  status        TEXT NOT NULL,
  due_ms        INTEGER,
  thread_id     TEXT,
  agent         TEXT,
  agent_version TEXT,
  parent_run_id TEXT,
  started_ms    INTEGER NOT NULL
);
CREATE UNIQUE INDEX runs_by_key ON runs (workspace, run_id);
CREATE INDEX runs_by_workspace ON runs (workspace, id);
CREATE INDEX runs_by_status ON runs (workspace, status, id);
CREATE INDEX runs_by_due ON runs (workspace, agent, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX runs_by_thread ON runs (workspace, thread_id, id) WHERE thread_id IS NOT NULL;
CREATE INDEX runs_by_agent ON runs (workspace, agent, id) WHERE agent IS NOT NULL;
CREATE INDEX runs_by_parent ON runs (workspace, parent_run_id, id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_by_fork ON runs (fork_of) WHERE fork_of IS NOT NULL;
CREATE INDEX runs_by_scope ON runs (scope);

-- Indexes of subjects, tags and scores in the summary.
CREATE TABLE subjects (run INTEGER NOT NULL REFERENCES runs (id), subject TEXT NOT NULL);
CREATE UNIQUE INDEX subjects_by_name ON subjects (subject, run);
CREATE INDEX subjects_by_run ON subjects (run);
CREATE TABLE tags (run INTEGER NOT NULL REFERENCES runs (id), name TEXT NOT NULL, value TEXT NOT NULL);
CREATE UNIQUE INDEX tags_by_run ON tags (run, name);
CREATE INDEX tags_by_name ON tags (name, value, run);
-- value is JSON; number is set for numbers only, which alone have an order.
CREATE TABLE scores (run INTEGER NOT NULL REFERENCES runs (id), seq INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, number REAL);
CREATE UNIQUE INDEX scores_by_run ON scores (run, seq);
CREATE INDEX scores_by_name ON scores (name, number, run);

-- follows is 1 if the event right before it in its run is known to be its cause. Most causes are, and are found from
-- there: without them in the index of causes, a commit in a loop writes one page less.
CREATE TABLE events (
  position       INTEGER PRIMARY KEY,
  run            INTEGER NOT NULL REFERENCES runs (id),
  seq            INTEGER NOT NULL,
  event_id       TEXT NOT NULL,
  event_type     TEXT NOT NULL,
  timestamp      TEXT NOT NULL,
  origin         TEXT NOT NULL,
  runtime        TEXT NOT NULL,
  causation_id   TEXT,
  recorded_at    TEXT NOT NULL,
  schema_version INTEGER NOT NULL,
  payload_hash   BLOB NOT NULL,
  hash           BLOB NOT NULL,
  follows        INTEGER NOT NULL
);
CREATE UNIQUE INDEX events_by_seq ON events (run, seq);
CREATE UNIQUE INDEX events_by_id ON events (event_id, run);
CREATE INDEX events_by_cause ON events (causation_id) WHERE causation_id IS NOT NULL AND follows = 0;

-- Payloads are apart from events, which stay when a payload is erased. In a rowid table a deleted body leaves no copy
-- in inner pages of the tree.
CREATE TABLE payloads (
  position INTEGER PRIMARY KEY REFERENCES events (position),
  salt     BLOB NOT NULL,
  mac      BLOB,
  body     TEXT NOT NULL
);

-- Parts of large payloads, shared within a scope.
CREATE TABLE nodes (
  id    INTEGER PRIMARY KEY,
  scope INTEGER NOT NULL REFERENCES scopes (id),
  hash  BLOB NOT NULL,
  body  TEXT NOT NULL
);
CREATE UNIQUE INDEX nodes_by_hash ON nodes (scope, hash);

-- Encrypted originals of what redaction took out of an event: one row per event that lost any.
CREATE TABLE vault (
  position INTEGER PRIMARY KEY,
  key_id   TEXT NOT NULL,
  data     BLOB NOT NULL
);
CREATE INDEX vault_by_key ON vault (key_id);

-- One row per attempt of a step. Span and input digest are bytes where they have their usual form, which halves the row.
CREATE TABLE steps (
  id          INTEGER PRIMARY KEY,
  run         INTEGER NOT NULL REFERENCES runs (id),
  step_id     TEXT NOT NULL,
  attempt     INTEGER NOT NULL,
  started_seq INTEGER NOT NULL,
  record      TEXT NOT NULL,
  span        BLOB,
  digest      BLOB
);
CREATE UNIQUE INDEX steps_by_key ON steps (run, step_id, attempt);
CREATE INDEX steps_by_start ON steps (run, started_seq);

-- Memory (M1): how far the stream of each scope is folded, and by which version of the fold.
CREATE TABLE memory_scopes (
  id        INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  book      TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  version   INTEGER NOT NULL
);
CREATE UNIQUE INDEX memory_scopes_by_book ON memory_scopes (workspace, book);

-- One row per item, under the position of the event that wrote it and holds its value.
CREATE TABLE memory_items (
  position   INTEGER PRIMARY KEY,
  scope      INTEGER NOT NULL REFERENCES memory_scopes (id),
  namespace  TEXT NOT NULL,
  key        TEXT NOT NULL,
  seq        INTEGER NOT NULL,
  born_seq   INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  expires_at TEXT,
  tags       TEXT NOT NULL,
  subjects   TEXT NOT NULL,
  event_id   TEXT NOT NULL,
  run_id     TEXT,
  bytes      INTEGER NOT NULL,
  tokens     INTEGER NOT NULL
);
CREATE UNIQUE INDEX memory_items_by_name ON memory_items (scope, namespace, key);
CREATE INDEX memory_items_by_scope ON memory_items (scope, position);

-- Words of the items. place has one tag for the scope and one for workspace and layer, so that a search does not read
-- the words of others; named repeats the words of the name, each with a mark before it.
CREATE VIRTUAL TABLE memory_words USING fts5(place, named, name, text, prefix = '2 3', tokenize = "unicode61 remove_diacritics 0");
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER memory_words_go AFTER DELETE ON memory_items
BEGIN DELETE FROM memory_words WHERE rowid = OLD.position; END;

-- Coordination between processes; not recorded as events.
CREATE TABLE leases (
  workspace TEXT NOT NULL,
  run_id    TEXT NOT NULL,
  owner     TEXT NOT NULL,
  epoch     INTEGER NOT NULL,
  thread_id TEXT,
  held      INTEGER NOT NULL,
  beat_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace, run_id)
);
CREATE UNIQUE INDEX leases_one_per_thread ON leases (workspace, thread_id) WHERE held = 1 AND thread_id IS NOT NULL;
-- Small JSON values under a name: where consumers stand, and which folds made the rows of runs and steps. A new file has
-- no rows of older folds.
CREATE TABLE slots (
  workspace TEXT NOT NULL,
  name      TEXT NOT NULL,
  value     TEXT NOT NULL,
  version   INTEGER NOT NULL,
  PRIMARY KEY (workspace, name)
);
INSERT INTO slots VALUES ('${NEW_PROJECTIONS.workspace}', '${NEW_PROJECTIONS.name}', '${JSON.stringify(NEW_PROJECTIONS.value)}', 1);
-- Positions of deleted payloads whose words the search index, in a file of its own, has not dropped yet.
CREATE TABLE search_removals (position INTEGER PRIMARY KEY);

-- What may be deleted, and why. A seal covers a pruned range of events; an erasure covers a payload or a node; a pruned
-- state covers the payload of a checkpoint (R10); a sweep covers the nodes of a scope that lost events or payloads.
CREATE TABLE seals (
  run       INTEGER NOT NULL REFERENCES runs (id),
  from_seq  INTEGER NOT NULL,
  to_seq    INTEGER NOT NULL,
  head_hash BLOB NOT NULL,
  PRIMARY KEY (run, from_seq)
);
CREATE TABLE erasures (position INTEGER PRIMARY KEY, erased_at TEXT NOT NULL);
CREATE TABLE node_erasures (node INTEGER PRIMARY KEY, erased_at TEXT NOT NULL);
CREATE TABLE pruned_states (position INTEGER PRIMARY KEY, pruned_at TEXT NOT NULL);
CREATE TABLE sweeps (scope INTEGER PRIMARY KEY, mark INTEGER NOT NULL);

-- Append-only (L2). INSERT OR REPLACE deletes rows in its way by any unique key and fires no DELETE trigger: therefore
-- each table also refuses an insert whose key is taken.
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'clew: events are append-only'); END;
CREATE TRIGGER events_never_go BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM seals WHERE run = OLD.run AND OLD.seq BETWEEN from_seq AND to_seq)
BEGIN SELECT RAISE(ABORT, 'clew: events are append-only'); END;
CREATE TRIGGER events_never_replaced BEFORE INSERT ON events
WHEN NEW.position <= (SELECT max(position) FROM events)
  OR EXISTS (SELECT 1 FROM events WHERE run = NEW.run AND seq = NEW.seq)
  OR EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id AND run = NEW.run)
BEGIN SELECT RAISE(ROLLBACK, 'clew: events are append-only'); END;

CREATE TRIGGER payloads_never_change BEFORE UPDATE ON payloads
BEGIN SELECT RAISE(ABORT, 'clew: values are append-only'); END;
CREATE TRIGGER payloads_never_go BEFORE DELETE ON payloads
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE position = OLD.position)
 AND NOT EXISTS (SELECT 1 FROM pruned_states WHERE position = OLD.position)
 AND NOT EXISTS (SELECT 1 FROM events e JOIN seals s ON s.run = e.run AND e.seq BETWEEN s.from_seq AND s.to_seq
                 WHERE e.position = OLD.position)
BEGIN SELECT RAISE(ABORT, 'clew: values are append-only'); END;
CREATE TRIGGER payloads_never_replaced BEFORE INSERT ON payloads
WHEN EXISTS (SELECT 1 FROM payloads WHERE position = NEW.position)
BEGIN SELECT RAISE(ROLLBACK, 'clew: values are append-only'); END;

CREATE TRIGGER nodes_never_change BEFORE UPDATE ON nodes
BEGIN SELECT RAISE(ABORT, 'clew: values are append-only'); END;
CREATE TRIGGER nodes_never_go BEFORE DELETE ON nodes
WHEN NOT EXISTS (SELECT 1 FROM node_erasures WHERE node = OLD.id)
 AND NOT EXISTS (SELECT 1 FROM sweeps WHERE scope = OLD.scope)
BEGIN SELECT RAISE(ABORT, 'clew: values are append-only'); END;
CREATE TRIGGER nodes_never_replaced BEFORE INSERT ON nodes
WHEN EXISTS (SELECT 1 FROM nodes WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM nodes WHERE scope = NEW.scope AND hash = NEW.hash)
BEGIN SELECT RAISE(ROLLBACK, 'clew: values are append-only'); END;

${appendOnly('seals', 'seals', 'run = NEW.run AND from_seq = NEW.from_seq')}
${appendOnly('erasures', 'erasures', 'position = NEW.position')}
${appendOnly('node_erasures', 'erasures', 'node = NEW.node')}
${appendOnly('pruned_states', 'pruned states', 'position = NEW.position')}

-- A vault row is deleted with its payload. Rotation replaces key and data in place. Deleting a row alone is allowed: no
-- hash depends on it, and the event keeps its placeholders.
CREATE TRIGGER vault_goes_with_payload AFTER DELETE ON payloads
BEGIN DELETE FROM vault WHERE position = OLD.position; END;
CREATE TRIGGER vault_never_moves BEFORE UPDATE OF position ON vault
BEGIN SELECT RAISE(ABORT, 'clew: vault rows stay with their event'); END;
CREATE TRIGGER vault_never_replaced BEFORE INSERT ON vault
WHEN EXISTS (SELECT 1 FROM vault WHERE position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'clew: vault rows stay with their event'); END;
`,
  `
-- A submitted run has a lease row from its first event on. Its turn is its place among the waiting runs of its queue, null
-- while it is delayed (not_before) and once it has started.
ALTER TABLE leases ADD COLUMN agent TEXT;
ALTER TABLE leases ADD COLUMN queue TEXT;
ALTER TABLE leases ADD COLUMN key TEXT;
ALTER TABLE leases ADD COLUMN priority INTEGER;
ALTER TABLE leases ADD COLUMN not_before INTEGER;
ALTER TABLE leases ADD COLUMN turn INTEGER;
CREATE INDEX leases_by_turn ON leases (workspace, agent, queue, priority DESC, turn) WHERE turn IS NOT NULL AND held = 0;
CREATE INDEX leases_by_key ON leases (workspace, agent, queue, priority, key, turn) WHERE turn IS NOT NULL AND held = 0;
CREATE INDEX leases_delayed ON leases (workspace, agent, not_before) WHERE not_before IS NOT NULL AND held = 0;
CREATE INDEX leases_in_queue ON leases (workspace, queue, key) WHERE held = 1 AND queue IS NOT NULL;
CREATE INDEX runs_unfinished ON runs (workspace, thread_id, id) WHERE thread_id IS NOT NULL
  AND status NOT IN ('completed', 'failed', 'stopped', 'partial', 'superseded', 'deleted');
-- Times of claims in queues with a rate.
CREATE TABLE queue_claims (workspace TEXT NOT NULL, queue TEXT NOT NULL, at_ms INTEGER NOT NULL);
CREATE INDEX queue_claims_by_time ON queue_claims (workspace, queue, at_ms);
`,
]
