import { NEW_PROJECTIONS } from '@clew/ledger'

/**
 * The schema of a ledger, oldest migration first. Each runs with search_path on the ledger's own schema. Text that is a
 * key is compared byte by byte (COLLATE "C").
 *
 * Code works on a schema that is one version newer, so that old and new processes run side by side during a deploy:
 * a migration only adds, and what is unused is dropped one version later. One after which the version before cannot
 * work raises `meta.oldest`.
 */
const FIRST = `
-- One row: what this schema is, where positions begin (docs/decisions, "Position"), and a fingerprint of the ledger's
-- key, which itself is stored elsewhere.
CREATE TABLE meta (
  id       integer PRIMARY KEY CHECK (id = 1),
  ledger   text NOT NULL,
  version  integer NOT NULL,
  base     bigint NOT NULL,
  key_mark text,
  -- The oldest version whose code may work on this schema.
  oldest   integer NOT NULL
);
INSERT INTO meta VALUES (1, 'clew', 0, 0, NULL, 8);

-- Ids of scopes and nodes.
CREATE SEQUENCE ids;

-- Values are shared within a scope and never wider: a thread, or a run without one (L8).
CREATE TABLE scopes (id bigint PRIMARY KEY, workspace text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL);
CREATE UNIQUE INDEX scopes_by_name ON scopes (workspace, name);

-- The id of a run is the position of its first event. epoch and held are copies of the run's lease, written by a trigger
-- of leases, so that one lock and one check of this row cover head and lease. revision is raised by every change of the
-- row without an event, so that no writer continues from a cached row.
CREATE TABLE runs (
  id            bigint PRIMARY KEY,
  workspace     text COLLATE "C" NOT NULL,
  run_id        text COLLATE "C" NOT NULL,
  scope         bigint NOT NULL,
  fork_of       bigint,
  fork_seq      bigint,
  seq           bigint NOT NULL,
  hash          bytea NOT NULL,
  recorded_at   text COLLATE "C" NOT NULL,
  status        text COLLATE "C" NOT NULL,
  thread_id     text COLLATE "C",
  agent         text COLLATE "C",
  agent_version text COLLATE "C",
  started_ms    bigint NOT NULL,
  parent_run_id text COLLATE "C",
  -- dueMsOf(summary, recorded_at) of @clew/ledger, written when status or dueAt change: workers claim by it.
  due_ms        bigint,
  summary       text NOT NULL,
  epoch         integer NOT NULL,
  held          boolean NOT NULL,
  revision      integer NOT NULL DEFAULT 0
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);
CREATE UNIQUE INDEX runs_by_key ON runs (workspace, run_id);
CREATE INDEX runs_by_workspace ON runs (workspace, id);
CREATE INDEX runs_by_status ON runs (workspace, status, id);
CREATE INDEX runs_by_thread ON runs (workspace, thread_id, id) WHERE thread_id IS NOT NULL;
CREATE INDEX runs_by_agent ON runs (workspace, agent, id) WHERE agent IS NOT NULL;
CREATE INDEX runs_by_start ON runs (workspace, started_ms);
CREATE INDEX runs_by_fork ON runs (fork_of) WHERE fork_of IS NOT NULL;
CREATE INDEX runs_by_parent ON runs (workspace, parent_run_id, id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_by_due ON runs (workspace, agent, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX runs_by_scope ON runs (scope);

-- Indexes of lists in the summary.
CREATE TABLE subjects (run bigint NOT NULL, subject text COLLATE "C" NOT NULL);
CREATE UNIQUE INDEX subjects_by_run ON subjects (run, subject);
CREATE INDEX subjects_by_name ON subjects (subject, run);
CREATE TABLE tags (run bigint NOT NULL, name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL);
CREATE UNIQUE INDEX tags_by_run ON tags (run, name);
CREATE INDEX tags_by_name ON tags (name, value, run);
-- value is JSON; number is set for numbers only, which alone have an order.
CREATE TABLE scores (
  run    bigint NOT NULL,
  seq    bigint NOT NULL,
  name   text COLLATE "C" NOT NULL,
  value  text COLLATE "C" NOT NULL,
  number double precision
);
CREATE UNIQUE INDEX scores_by_run ON scores (run, seq);
CREATE INDEX scores_by_name ON scores (name, number, run);

CREATE TABLE events (
  position       bigint NOT NULL,
  run            bigint NOT NULL,
  seq            bigint NOT NULL,
  schema_version integer NOT NULL,
  -- Caused by the event right before it in its run: found from there, so the index of causes leaves it out.
  follows        boolean NOT NULL,
  event_id       text COLLATE "C" NOT NULL,
  event_type     text COLLATE "C" NOT NULL,
  timestamp      text COLLATE "C" NOT NULL,
  origin         text COLLATE "C" NOT NULL,
  runtime        text COLLATE "C" NOT NULL,
  causation_id   text COLLATE "C",
  recorded_at    text COLLATE "C" NOT NULL,
  payload_hash   bytea NOT NULL,
  hash           bytea NOT NULL,
  CONSTRAINT events_by_position PRIMARY KEY (position)
);
CREATE UNIQUE INDEX events_by_seq ON events (run, seq);
CREATE UNIQUE INDEX events_by_id ON events (event_id, run);
CREATE INDEX events_by_cause ON events (causation_id) WHERE causation_id IS NOT NULL AND NOT follows;

-- Bodies of payloads: JSON text in its own key order, never jsonb; or the top of a tree of nodes.
CREATE TABLE payloads (
  position bigint PRIMARY KEY,
  salt     bytea NOT NULL,
  mac      bytea,
  body     text NOT NULL
);

CREATE TABLE nodes (
  id    bigint PRIMARY KEY,
  scope bigint NOT NULL,
  hash  bytea NOT NULL,
  body  text NOT NULL
);
CREATE UNIQUE INDEX nodes_by_hash ON nodes (scope, hash);

-- The vault: encrypted originals of the secrets that redaction took out of an event, one row per event that lost any.
CREATE TABLE vault (
  position bigint PRIMARY KEY,
  key_id   text NOT NULL,
  data     bytea NOT NULL
);
CREATE INDEX vault_by_key ON vault (key_id);

-- Projection: one row per attempt of a step, written with the events it is folded from. step_text is the id as JSON
-- where step_id had to be shortened. parent is the id of the step around it, shortened alike.
CREATE TABLE steps (
  run         bigint NOT NULL,
  attempt     bigint NOT NULL,
  started_seq bigint NOT NULL,
  step_id     text COLLATE "C" NOT NULL,
  step_text   text,
  parent      text COLLATE "C",
  record      text NOT NULL,
  span        bytea,
  digest      bytea
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX steps_by_key ON steps (run, step_id, attempt);
CREATE INDEX steps_by_start ON steps (run, started_seq);

-- Coordination, not events. No index contains beat_at, so a heartbeat stays within its page.
CREATE TABLE leases (
  workspace text COLLATE "C" NOT NULL,
  run_id    text COLLATE "C" NOT NULL,
  owner     text COLLATE "C" NOT NULL,
  epoch     integer NOT NULL,
  thread_id text COLLATE "C",
  held      boolean NOT NULL,
  beat_at   timestamptz NOT NULL,
  CONSTRAINT leases_by_run PRIMARY KEY (workspace, run_id)
) WITH (fillfactor = 60);
CREATE UNIQUE INDEX leases_one_per_thread ON leases (workspace, thread_id) WHERE held AND thread_id IS NOT NULL;
CREATE INDEX leases_held ON leases (owner) WHERE held;

-- Proof that an owner of leases is alive: the backend of a connection that it keeps open. pid is null where a pooler hides
-- the backend. Another server_start means that the server was restarted, so a missing backend proves nothing.
CREATE TABLE owners (
  owner         text COLLATE "C" PRIMARY KEY,
  pid           integer,
  backend_start timestamptz,
  server_start  timestamptz
);

-- Small JSON values under a name: cursors of consumers (V9), and which folds made the rows of runs and steps. A new schema
-- has no rows of older folds.
CREATE TABLE slots (
  workspace text COLLATE "C" NOT NULL,
  name      text COLLATE "C" NOT NULL,
  value     text NOT NULL,
  version   bigint NOT NULL,
  PRIMARY KEY (workspace, name)
);
INSERT INTO slots VALUES ('${NEW_PROJECTIONS.workspace}', '${NEW_PROJECTIONS.name}', '${JSON.stringify(NEW_PROJECTIONS.value)}', 1);

-- Live progress (T4), one row per attempt of a step: no WAL, empty after a crash of the server. change comes from a
-- sequence that survives such a crash.
CREATE SEQUENCE progress_changes;
CREATE UNLOGGED TABLE progress (
  workspace  text COLLATE "C" NOT NULL,
  run_id     text COLLATE "C" NOT NULL,
  step_id    text COLLATE "C" NOT NULL,
  attempt    integer NOT NULL,
  change     bigint NOT NULL,
  version    bigint NOT NULL,
  written_ms bigint NOT NULL,
  body       text NOT NULL,
  PRIMARY KEY (workspace, run_id, step_id, attempt)
);
CREATE INDEX progress_by_change ON progress (change);

-- The search index: a consumer of the ledger, which can be emptied and filled again. A tsvector holds 256 positions of a
-- word and none after 16,383; where that is too few, texts has the words in their order.
CREATE TABLE search_state (
  id       integer PRIMARY KEY CHECK (id = 1),
  position bigint NOT NULL,
  version  integer NOT NULL
);
INSERT INTO search_state VALUES (1, 0, 0);
CREATE TABLE search_tools (tag text COLLATE "C" PRIMARY KEY, name text NOT NULL);
CREATE TABLE search_words (position bigint PRIMARY KEY, words tsvector NOT NULL, texts text);
CREATE INDEX search_words_by_word ON search_words USING gin (words);
-- Positions of deleted payloads whose words the index has not dropped yet.
CREATE TABLE search_removals (position bigint PRIMARY KEY);

-- Projection: what agents remember (M1). How far the events of each memory scope are folded, by which version of the fold.
CREATE TABLE memory_scopes (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace text COLLATE "C" NOT NULL,
  book      text COLLATE "C" NOT NULL,
  seq       bigint NOT NULL,
  version   integer NOT NULL
);
CREATE UNIQUE INDEX memory_scopes_by_book ON memory_scopes (workspace, book);

-- One row per item, under the position of the event that has its value. words and texts are as in search_words.
CREATE TABLE memory_items (
  position   bigint PRIMARY KEY,
  scope      bigint NOT NULL,
  namespace  text COLLATE "C" NOT NULL,
  key        text COLLATE "C" NOT NULL,
  seq        bigint NOT NULL,
  born_seq   bigint NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  updated_at text COLLATE "C" NOT NULL,
  expires_at text COLLATE "C",
  tags       text[] NOT NULL,
  subjects   text[] NOT NULL,
  event_id   text COLLATE "C" NOT NULL,
  run_id     text COLLATE "C",
  bytes      bigint NOT NULL,
  tokens     bigint NOT NULL,
  words      tsvector NOT NULL,
  texts      text
);
CREATE UNIQUE INDEX memory_items_by_name ON memory_items (scope, namespace, key);
CREATE INDEX memory_items_by_scope ON memory_items (scope, position);
CREATE INDEX memory_items_by_word ON memory_items USING gin (words);

-- What may be deleted, and why: a seal covers a pruned range of events, an erasure a payload, a pruned state the payload
-- of a checkpoint that retention no longer keeps (R10), a sweep the values of a scope that lost payloads.
CREATE TABLE seals (
  run       bigint NOT NULL,
  from_seq  bigint NOT NULL,
  to_seq    bigint NOT NULL,
  head_hash bytea NOT NULL,
  PRIMARY KEY (run, from_seq)
);
CREATE TABLE erasures (position bigint PRIMARY KEY, erased_at text NOT NULL);
CREATE TABLE pruned_states (position bigint PRIMARY KEY, pruned_at text NOT NULL);
CREATE TABLE sweeps (scope bigint PRIMARY KEY, mark bigint NOT NULL);

-- Append-only (L2) for every client, also for one with session_replication_role = replica.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'clew: % is append-only', TG_TABLE_NAME USING ERRCODE = 'CW002';
END $$;

CREATE FUNCTION refuse_unsealed_event() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT FROM seals WHERE run = OLD.run AND OLD.seq BETWEEN from_seq AND to_seq) THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'clew: events is append-only' USING ERRCODE = 'CW002';
END $$;

CREATE FUNCTION refuse_kept_payload() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT FROM erasures WHERE position = OLD.position)
    OR EXISTS (SELECT FROM pruned_states WHERE position = OLD.position)
    OR EXISTS (SELECT FROM events e JOIN seals s ON s.run = e.run AND e.seq BETWEEN s.from_seq AND s.to_seq
               WHERE e.position = OLD.position) THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'clew: payloads is append-only' USING ERRCODE = 'CW002';
END $$;

CREATE FUNCTION refuse_kept_node() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT FROM sweeps WHERE scope = OLD.scope) THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'clew: nodes is append-only' USING ERRCODE = 'CW002';
END $$;

CREATE TRIGGER never_gone BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION refuse_unsealed_event();
CREATE TRIGGER never_gone BEFORE DELETE ON payloads FOR EACH ROW EXECUTE FUNCTION refuse_kept_payload();
CREATE TRIGGER never_gone BEFORE DELETE ON nodes FOR EACH ROW EXECUTE FUNCTION refuse_kept_node();
CREATE TRIGGER never_gone BEFORE DELETE ON seals FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER never_gone BEFORE DELETE ON erasures FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER never_gone BEFORE DELETE ON pruned_states FOR EACH ROW EXECUTE FUNCTION refuse_change();
DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['events', 'payloads', 'nodes', 'seals', 'erasures', 'pruned_states'] LOOP
    EXECUTE format('CREATE TRIGGER never_changed BEFORE UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', name);
    EXECUTE format('CREATE TRIGGER never_emptied BEFORE TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', name);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER never_gone', name);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER never_changed', name);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER never_emptied', name);
  END LOOP;
END $$;

-- A row of the vault is deleted with its payload, in the same transaction, by whatever deletes the payload. A rotation of
-- keys replaces key and data in place; a row never moves to another event.
CREATE FUNCTION drop_vault_row() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM vault WHERE position = OLD.position;
  RETURN NULL;
END $$;
CREATE TRIGGER vault_goes_with_payload AFTER DELETE ON payloads FOR EACH ROW EXECUTE FUNCTION drop_vault_row();
ALTER TABLE payloads ENABLE ALWAYS TRIGGER vault_goes_with_payload;
CREATE TRIGGER never_moved BEFORE UPDATE OF position ON vault FOR EACH ROW EXECUTE FUNCTION refuse_change();
ALTER TABLE vault ENABLE ALWAYS TRIGGER never_moved;

-- Copies epoch and held of a lease to the row of its run. A run that does not exist yet has no row to lock: its first
-- writer and whoever takes its lease meet in an advisory lock instead.
CREATE FUNCTION run_lock(of_workspace text, of_run text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT hashtextextended(of_workspace || E'\\n' || of_run, 7)
$$;
CREATE FUNCTION lock_run() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(run_lock(NEW.workspace, NEW.run_id));
  RETURN NEW;
END $$;
CREATE FUNCTION copy_lease_to_run() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE runs SET epoch = NEW.epoch, held = NEW.held WHERE workspace = NEW.workspace AND run_id = NEW.run_id;
  RETURN NULL;
END $$;
CREATE TRIGGER lock_run BEFORE INSERT ON leases FOR EACH ROW EXECUTE FUNCTION lock_run();
CREATE TRIGGER copy_new_lease AFTER INSERT ON leases FOR EACH ROW EXECUTE FUNCTION copy_lease_to_run();
CREATE TRIGGER copy_changed_lease AFTER UPDATE ON leases FOR EACH ROW
  WHEN (OLD.epoch <> NEW.epoch OR OLD.held <> NEW.held) EXECUTE FUNCTION copy_lease_to_run();

-- Writers that refer to stored values hold this lock shared; deleting values takes it exclusively.
CREATE FUNCTION scope_lock(of_scope bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT hashint8extended(of_scope, 11)
$$;

-- Aborts an append of which some run is no longer as the writer has it cached.
CREATE FUNCTION assert_unchanged(unchanged bigint, expected bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF unchanged = expected THEN RETURN true; END IF;
  RAISE EXCEPTION 'clew: a run has changed' USING ERRCODE = 'CW001';
END $$;

-- First positions of so many blocks of 1,024. A transaction that waited for a lock got its id before it waited, so its own
-- block may lie before what others have committed since. Ids of empty subtransactions are newer than all that, and no
-- follower reads beyond them while the transaction runs.
CREATE UNLOGGED TABLE subtransactions (id integer);
CREATE FUNCTION take_blocks(wanted integer) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
  own bigint := pg_current_xact_id()::text::bigint;
  start bigint := (SELECT base FROM meta);
  newer bigint;
BEGIN
  FOR i IN 1..wanted LOOP
    BEGIN
      INSERT INTO subtransactions DEFAULT VALUES RETURNING xmin::text::bigint INTO newer;
      RAISE EXCEPTION 'clew: only the id is wanted' USING ERRCODE = 'CW003';
    EXCEPTION WHEN SQLSTATE 'CW003' THEN
      -- xmin is the lower half of the id.
      newer := own - own % 4294967296 + newer;
      IF newer < own THEN newer := newer + 4294967296; END IF;
    END;
    RETURN NEXT start + newer * 1024;
  END LOOP;
END $$;
`

/** A submitted run has a lease row from its first event on (W4); its epoch is 0 until it is claimed. */
const QUEUES = `
-- turn is the place among the waiting runs of the queue: null while the run is delayed (not_before), and once it has started.
ALTER TABLE leases ADD COLUMN agent text COLLATE "C";
ALTER TABLE leases ADD COLUMN queue text COLLATE "C";
ALTER TABLE leases ADD COLUMN key text COLLATE "C";
ALTER TABLE leases ADD COLUMN priority integer;
ALTER TABLE leases ADD COLUMN not_before bigint;
ALTER TABLE leases ADD COLUMN turn bigint;
CREATE INDEX leases_by_turn ON leases (workspace, agent, queue, priority DESC, turn) WHERE turn >= 0 AND NOT held;
CREATE INDEX leases_by_key ON leases (workspace, agent, queue, priority, key, turn) WHERE turn IS NOT NULL AND NOT held;
CREATE INDEX leases_delayed ON leases (workspace, agent, not_before) WHERE not_before IS NOT NULL AND NOT held;
CREATE INDEX leases_in_queue ON leases (workspace, queue, key) WHERE held AND queue IS NOT NULL;
CREATE INDEX runs_unfinished ON runs (workspace, thread_id, id) WHERE thread_id IS NOT NULL
  AND status NOT IN ('completed', 'failed', 'stopped', 'partial', 'superseded', 'deleted');
-- Times of claims in queues with a rate.
CREATE TABLE queue_claims (workspace text COLLATE "C" NOT NULL, queue text COLLATE "C" NOT NULL, at_ms bigint NOT NULL);
CREATE INDEX queue_claims_by_time ON queue_claims (workspace, queue, at_ms);
-- A free lease says nothing that the row of a new run does not say.
DROP TRIGGER copy_new_lease ON leases;
CREATE TRIGGER copy_new_lease AFTER INSERT ON leases FOR EACH ROW WHEN (NEW.epoch > 0) EXECUTE FUNCTION copy_lease_to_run();
`

export const MIGRATIONS: readonly string[] = [FIRST, QUEUES]
