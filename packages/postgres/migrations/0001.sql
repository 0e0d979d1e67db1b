-- Runs with search_path on the ledger's own schema. Text that is a key is compared byte by byte (COLLATE "C").

-- One row: what this schema is, what positions begin at (see docs/decisions, "Position"), and a mark of the ledger's
-- key, which itself lives elsewhere.
CREATE TABLE meta (
  id       integer PRIMARY KEY CHECK (id = 1),
  ledger   text NOT NULL,
  version  integer NOT NULL,
  base     bigint NOT NULL,
  key_mark text,
  -- The oldest version whose code may work on this schema. A migration after which the version before cannot go on
  -- (none should be) raises it.
  oldest   integer NOT NULL DEFAULT 1
);
INSERT INTO meta VALUES (1, 'clew', 0, 0, NULL);

-- Ids of scopes and nodes, taken in blocks by the writers, who must know them before they write.
CREATE SEQUENCE ids INCREMENT BY 1024;

-- Values are shared within a scope and never wider: a thread, or a run without one.
CREATE TABLE scopes (id bigint PRIMARY KEY, workspace text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL);
CREATE UNIQUE INDEX scopes_by_name ON scopes (workspace, name);

-- The id of a run is the position of its first event. `epoch` and `held` mirror the run's lease, so that the update
-- of a run's head checks the lease as well and meets whoever takes it over at the moment. `revision` is raised by whoever
-- changes the row without an event, so that nobody writes on from what it was before.
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
  -- Set when the run is made, for its child runs to be found.
  parent_run_id text COLLATE "C",
  -- dueMsOf(summary, recorded_at) of @clew/ledger, written whenever status or dueAt change: what workers claim by.
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

CREATE TABLE subjects (run bigint NOT NULL, subject text COLLATE "C" NOT NULL);
CREATE UNIQUE INDEX subjects_by_name ON subjects (subject, run);
CREATE INDEX subjects_by_run ON subjects (run);

CREATE TABLE events (
  position       bigint NOT NULL,
  run            bigint NOT NULL,
  seq            bigint NOT NULL,
  schema_version integer NOT NULL,
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
-- Events caused by the one right before them in their run are found from there (`follows`).
CREATE INDEX events_by_cause ON events (causation_id) WHERE causation_id IS NOT NULL AND NOT follows;

-- Payload bodies apart from events. JSON text in its own key order, never jsonb. key_id is reserved for payloads
-- encrypted at rest.
CREATE TABLE payloads (
  position bigint PRIMARY KEY,
  key_id   integer,
  salt     bytea NOT NULL,
  mac      bytea,
  body     text NOT NULL
);

CREATE TABLE nodes (
  id     bigint PRIMARY KEY,
  scope  bigint NOT NULL,
  key_id integer,
  hash   bytea NOT NULL,
  body   text NOT NULL
);
CREATE UNIQUE INDEX nodes_by_hash ON nodes (scope, hash);

-- Projection: one row per attempt of a step, written with the events it is folded from. `step_text` is the id as JSON
-- where `step_id` had to be shortened.
CREATE TABLE steps (
  run         bigint NOT NULL,
  attempt     bigint NOT NULL,
  started_seq bigint NOT NULL,
  step_id     text COLLATE "C" NOT NULL,
  step_text   text,
  record      text NOT NULL,
  span        bytea,
  digest      bytea
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX steps_by_key ON steps (run, step_id, attempt);

-- The version of the folds that made the rows of runs and steps, and how far a rebuild by a newer one has come.
CREATE TABLE projections (
  id        integer PRIMARY KEY CHECK (id = 1),
  version   integer NOT NULL,
  target    integer,
  after_run bigint NOT NULL
);
INSERT INTO projections VALUES (1, 1, NULL, 0);

-- Coordination, not events. No index holds beat_at: a heartbeat stays within its page.
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

-- By what an owner proves that it lives: the backend of a connection that it holds as long as it is there. The row
-- follows when that connection is made anew. Null where a pooler hides the backend; another server_start means that
-- the server was restarted or replaced, and that a missing backend proves nothing.
CREATE TABLE owners (
  owner         text COLLATE "C" PRIMARY KEY,
  pid           integer,
  backend_start timestamptz,
  server_start  timestamptz
);

-- Where each consumer of the ledger stands (V9).
CREATE TABLE consumers (
  workspace text COLLATE "C" NOT NULL,
  name      text COLLATE "C" NOT NULL,
  position  bigint NOT NULL,
  version   bigint NOT NULL,
  failures  integer NOT NULL,
  error     text,
  moved_ms  bigint NOT NULL,
  PRIMARY KEY (workspace, name)
);

-- Live progress between processes (T4): no WAL, gone after a crash of the server, bounded by its writers.
CREATE UNLOGGED TABLE progress (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace  text COLLATE "C" NOT NULL,
  run_id     text COLLATE "C" NOT NULL,
  written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  body       text NOT NULL
);
CREATE INDEX progress_by_run ON progress (workspace, run_id, id);

-- The search index: a consumer of the ledger that can be emptied and filled again.
CREATE TABLE search_state (
  id       integer PRIMARY KEY CHECK (id = 1),
  position bigint NOT NULL,
  version  integer NOT NULL
);
INSERT INTO search_state VALUES (1, 0, 0);
CREATE TABLE search_tools (tag text COLLATE "C" PRIMARY KEY, name text NOT NULL);
-- A tsvector knows no more than 256 places of a word and none after 16,383. Where that was too few, `texts` holds the
-- words in their order.
CREATE TABLE search_words (position bigint PRIMARY KEY, words tsvector NOT NULL, texts text);
CREATE INDEX search_words_by_word ON search_words USING gin (words);

-- What may go, and why: a seal covers a pruned range, an erasure covers payloads and values.
CREATE TABLE seals (
  run       bigint NOT NULL,
  from_seq  bigint NOT NULL,
  to_seq    bigint NOT NULL,
  head_hash bytea NOT NULL,
  PRIMARY KEY (run, from_seq)
);
CREATE TABLE erasures (position bigint PRIMARY KEY, erased_at text NOT NULL);
CREATE TABLE node_erasures (node bigint PRIMARY KEY, erased_at text NOT NULL);

-- Append-only (L2), for every client, also one that calls itself a replica.
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
    OR EXISTS (SELECT FROM events e JOIN seals s ON s.run = e.run AND e.seq BETWEEN s.from_seq AND s.to_seq
               WHERE e.position = OLD.position) THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'clew: payloads is append-only' USING ERRCODE = 'CW002';
END $$;

CREATE FUNCTION refuse_kept_node() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT FROM node_erasures WHERE node = OLD.id) THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'clew: nodes is append-only' USING ERRCODE = 'CW002';
END $$;

CREATE TRIGGER never_gone BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION refuse_unsealed_event();
CREATE TRIGGER never_gone BEFORE DELETE ON payloads FOR EACH ROW EXECUTE FUNCTION refuse_kept_payload();
CREATE TRIGGER never_gone BEFORE DELETE ON nodes FOR EACH ROW EXECUTE FUNCTION refuse_kept_node();
CREATE TRIGGER never_gone BEFORE DELETE ON seals FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER never_gone BEFORE DELETE ON erasures FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER never_gone BEFORE DELETE ON node_erasures FOR EACH ROW EXECUTE FUNCTION refuse_change();
DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['events', 'payloads', 'nodes', 'seals', 'erasures', 'node_erasures'] LOOP
    EXECUTE format('CREATE TRIGGER never_changed BEFORE UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', name);
    EXECUTE format('CREATE TRIGGER never_emptied BEFORE TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', name);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER never_gone', name);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER never_changed', name);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER never_emptied', name);
  END LOOP;
END $$;

-- A head that is not where the writer took it to be undoes the whole statement.
CREATE FUNCTION assert_heads(right_ones bigint, all_ones bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF right_ones = all_ones THEN RETURN true; END IF;
  RAISE EXCEPTION 'clew: a run has moved on' USING ERRCODE = 'CW001';
END $$;

-- A transaction has room for 1,024 positions. One that needs more takes ids of further, empty ones: they are higher than
-- its own, so until it ends no follower comes near them.
CREATE UNLOGGED TABLE rooms (id integer);
CREATE FUNCTION take_rooms(wanted integer) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  own bigint := pg_current_xact_id()::text::bigint;
  start bigint := (SELECT base FROM meta);
  rooms bigint[] := ARRAY[start + own * 1024];
  further bigint;
BEGIN
  FOR i IN 2..wanted LOOP
    BEGIN
      INSERT INTO rooms DEFAULT VALUES RETURNING xmin::text::bigint INTO further;
      RAISE EXCEPTION 'clew: only the id was wanted' USING ERRCODE = 'CW003';
    EXCEPTION WHEN SQLSTATE 'CW003' THEN
      -- xmin has only the lower half of the id.
      further := own - own % 4294967296 + further;
      IF further < own THEN further := further + 4294967296; END IF;
    END;
    rooms := rooms || (start + further * 1024);
  END LOOP;
  RETURN rooms;
END $$;

-- A run that begins has no row yet whose lock a taker of its lease would meet: both meet in an advisory lock, and what
-- is read behind it is read anew.
CREATE FUNCTION run_lock(of_workspace text, of_run text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT hashtextextended(of_workspace || E'\n' || of_run, 7)
$$;
CREATE FUNCTION assert_lease(of_workspace text, of_run text, its_epoch integer, is_held boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE lease record;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(run_lock(of_workspace, of_run));
  SELECT epoch, held INTO lease FROM leases WHERE workspace = of_workspace AND run_id = of_run FOR SHARE;
  IF coalesce(lease.epoch, 0) = its_epoch AND coalesce(lease.held, false) = is_held THEN RETURN true; END IF;
  RAISE EXCEPTION 'clew: a lease has moved on' USING ERRCODE = 'CW001';
END $$;

CREATE FUNCTION lock_run() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(run_lock(NEW.workspace, NEW.run_id));
  RETURN NEW;
END $$;
CREATE FUNCTION tell_run() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE runs SET epoch = NEW.epoch, held = NEW.held WHERE workspace = NEW.workspace AND run_id = NEW.run_id;
  RETURN NULL;
END $$;
CREATE TRIGGER lock_run BEFORE INSERT ON leases FOR EACH ROW EXECUTE FUNCTION lock_run();
CREATE TRIGGER tell_run_first AFTER INSERT ON leases FOR EACH ROW EXECUTE FUNCTION tell_run();
CREATE TRIGGER tell_run AFTER UPDATE ON leases FOR EACH ROW
  WHEN (OLD.epoch <> NEW.epoch OR OLD.held <> NEW.held) EXECUTE FUNCTION tell_run();
