-- Everything that cannot be added later to a file full of events: see docs/decisions.

-- Values are shared within a scope and never wider: a thread, or a run without one.
CREATE TABLE scopes (id INTEGER PRIMARY KEY, workspace TEXT NOT NULL, name TEXT NOT NULL);
CREATE UNIQUE INDEX scopes_by_name ON scopes (workspace, name);

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
  status        TEXT NOT NULL,
  thread_id     TEXT,
  agent         TEXT,
  agent_version TEXT,
  started_ms    INTEGER NOT NULL,
  summary       TEXT NOT NULL
);
CREATE UNIQUE INDEX runs_by_key ON runs (workspace, run_id);
CREATE INDEX runs_by_status ON runs (workspace, status, id);
CREATE INDEX runs_by_thread ON runs (workspace, thread_id, id) WHERE thread_id IS NOT NULL;
CREATE INDEX runs_by_agent ON runs (workspace, agent, id) WHERE agent IS NOT NULL;
CREATE INDEX runs_by_fork ON runs (fork_of) WHERE fork_of IS NOT NULL;

CREATE TABLE subjects (run INTEGER NOT NULL REFERENCES runs (id), subject TEXT NOT NULL);
CREATE UNIQUE INDEX subjects_by_name ON subjects (subject, run);

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
  hash           BLOB NOT NULL
);
CREATE UNIQUE INDEX events_by_seq ON events (run, seq);
CREATE UNIQUE INDEX events_by_id ON events (event_id, run);
CREATE INDEX events_by_cause ON events (causation_id) WHERE causation_id IS NOT NULL;

-- Payload bodies apart from events, in rowid tables, so that erasing one leaves no fragment behind.
-- key_id is reserved for payloads encrypted at rest.
CREATE TABLE payloads (
  position INTEGER PRIMARY KEY REFERENCES events (position),
  salt     BLOB NOT NULL,
  mac      BLOB,
  body     TEXT NOT NULL,
  key_id   INTEGER
);

CREATE TABLE nodes (
  id     INTEGER PRIMARY KEY,
  scope  INTEGER NOT NULL REFERENCES scopes (id),
  hash   BLOB NOT NULL,
  body   TEXT NOT NULL,
  key_id INTEGER
);
CREATE UNIQUE INDEX nodes_by_hash ON nodes (scope, hash);

-- Projection: one row per attempt of a step, written with the events it is folded from.
CREATE TABLE steps (
  id          INTEGER PRIMARY KEY,
  run         INTEGER NOT NULL REFERENCES runs (id),
  step_id     TEXT NOT NULL,
  attempt     INTEGER NOT NULL,
  started_seq INTEGER NOT NULL,
  record      TEXT NOT NULL
);
CREATE UNIQUE INDEX steps_by_key ON steps (run, step_id, attempt);

-- Coordination, not events.
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

-- What may go, and why: a seal covers a pruned range, an erasure covers payloads and values.
CREATE TABLE seals (
  run       INTEGER NOT NULL REFERENCES runs (id),
  from_seq  INTEGER NOT NULL,
  to_seq    INTEGER NOT NULL,
  head_hash BLOB NOT NULL,
  PRIMARY KEY (run, from_seq)
);
CREATE TABLE erasures (position INTEGER PRIMARY KEY, erased_at TEXT NOT NULL);
CREATE TABLE node_erasures (node INTEGER PRIMARY KEY, erased_at TEXT NOT NULL);

CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'clew: events are append-only'); END;
CREATE TRIGGER events_never_go BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM seals WHERE run = OLD.run AND OLD.seq BETWEEN from_seq AND to_seq)
BEGIN SELECT RAISE(ABORT, 'clew: events are append-only'); END;
-- INSERT OR REPLACE removes what is in its way by any unique key, and asks no DELETE trigger.
CREATE TRIGGER events_never_replaced BEFORE INSERT ON events
WHEN NEW.position <= (SELECT max(position) FROM events)
  OR EXISTS (SELECT 1 FROM events WHERE run = NEW.run AND seq = NEW.seq)
  OR EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id AND run = NEW.run)
BEGIN SELECT RAISE(ABORT, 'clew: events are append-only'); END;

CREATE TRIGGER payloads_never_change BEFORE UPDATE ON payloads
BEGIN SELECT RAISE(ABORT, 'clew: values are append-only'); END;
CREATE TRIGGER payloads_never_go BEFORE DELETE ON payloads
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE position = OLD.position)
 AND NOT EXISTS (SELECT 1 FROM events e JOIN seals s ON s.run = e.run AND e.seq BETWEEN s.from_seq AND s.to_seq
                 WHERE e.position = OLD.position)
BEGIN SELECT RAISE(ABORT, 'clew: values are append-only'); END;
-- A replaced payload cannot fit the payload_hash of its event, which never changes: verify finds it. A trigger
-- against it would cost every append a twentieth.

CREATE TRIGGER nodes_never_change BEFORE UPDATE ON nodes
BEGIN SELECT RAISE(ABORT, 'clew: values are append-only'); END;
CREATE TRIGGER nodes_never_go BEFORE DELETE ON nodes
WHEN NOT EXISTS (SELECT 1 FROM node_erasures WHERE node = OLD.id)
BEGIN SELECT RAISE(ABORT, 'clew: values are append-only'); END;
CREATE TRIGGER nodes_never_replaced BEFORE INSERT ON nodes
WHEN EXISTS (SELECT 1 FROM nodes WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM nodes WHERE scope = NEW.scope AND hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'clew: values are append-only'); END;

CREATE TRIGGER seals_never_change BEFORE UPDATE ON seals
BEGIN SELECT RAISE(ABORT, 'clew: seals are append-only'); END;
CREATE TRIGGER seals_never_go BEFORE DELETE ON seals
BEGIN SELECT RAISE(ABORT, 'clew: seals are append-only'); END;
CREATE TRIGGER seals_never_replaced BEFORE INSERT ON seals
WHEN EXISTS (SELECT 1 FROM seals WHERE run = NEW.run AND from_seq = NEW.from_seq)
BEGIN SELECT RAISE(ABORT, 'clew: seals are append-only'); END;
CREATE TRIGGER erasures_never_change BEFORE UPDATE ON erasures
BEGIN SELECT RAISE(ABORT, 'clew: erasures are append-only'); END;
CREATE TRIGGER erasures_never_go BEFORE DELETE ON erasures
BEGIN SELECT RAISE(ABORT, 'clew: erasures are append-only'); END;
CREATE TRIGGER erasures_never_replaced BEFORE INSERT ON erasures
WHEN EXISTS (SELECT 1 FROM erasures WHERE position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'clew: erasures are append-only'); END;
CREATE TRIGGER node_erasures_never_change BEFORE UPDATE ON node_erasures
BEGIN SELECT RAISE(ABORT, 'clew: erasures are append-only'); END;
CREATE TRIGGER node_erasures_never_go BEFORE DELETE ON node_erasures
BEGIN SELECT RAISE(ABORT, 'clew: erasures are append-only'); END;
CREATE TRIGGER node_erasures_never_replaced BEFORE INSERT ON node_erasures
WHEN EXISTS (SELECT 1 FROM node_erasures WHERE node = NEW.node)
BEGIN SELECT RAISE(ABORT, 'clew: erasures are append-only'); END;
