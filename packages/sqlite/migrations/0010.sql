-- Where a commit of few small events puts them, payload and all: it writes one page here and one for the head, in place of
-- five. A few dozen at a time are moved on to `events` and `payloads`; `entries` has them wherever they lie. Whatever lies
-- here is newer than all events there.
CREATE TABLE inbox (
  position       INTEGER PRIMARY KEY,
  event_id       TEXT NOT NULL,
  run            INTEGER NOT NULL REFERENCES runs (id),
  seq            INTEGER NOT NULL,
  event_type     TEXT NOT NULL,
  timestamp      TEXT NOT NULL,
  origin         TEXT NOT NULL,
  runtime        TEXT NOT NULL,
  causation_id   TEXT,
  recorded_at    TEXT NOT NULL,
  schema_version INTEGER NOT NULL,
  payload_hash   BLOB NOT NULL,
  hash           BLOB NOT NULL,
  follows        INTEGER NOT NULL,
  salt           BLOB NOT NULL,
  mac            BLOB,
  body           TEXT NOT NULL
);

CREATE VIEW entries AS
SELECT e.position, e.run, e.seq, e.event_id, e.event_type, e.timestamp, e.origin, e.runtime, e.causation_id, e.recorded_at,
    e.schema_version, e.payload_hash, e.hash, e.follows, p.salt, p.mac, p.body
  FROM events e LEFT JOIN payloads p ON p.position = e.position
UNION ALL
SELECT position, run, seq, event_id, event_type, timestamp, origin, runtime, causation_id, recorded_at,
    schema_version, payload_hash, hash, follows, salt, mac, body
  FROM inbox i WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.position = i.position);

CREATE TRIGGER inbox_never_changes BEFORE UPDATE ON inbox
BEGIN SELECT RAISE(ABORT, 'clew: events are append-only'); END;
CREATE TRIGGER inbox_only_moves_on BEFORE DELETE ON inbox
WHEN NOT EXISTS (SELECT 1 FROM events WHERE position = OLD.position AND hash = OLD.hash)
BEGIN SELECT RAISE(ABORT, 'clew: events are append-only'); END;
-- Only what is new: behind the newest position and the head of its run, under an id that the run does not have.
CREATE TRIGGER inbox_never_replaced BEFORE INSERT ON inbox
WHEN NEW.position <= coalesce((SELECT max(position) FROM inbox), (SELECT max(position) FROM events))
  OR NEW.seq <= (SELECT seq FROM runs WHERE id = NEW.run)
  OR EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id AND run = NEW.run)
  OR EXISTS (SELECT 1 FROM inbox WHERE event_id = NEW.event_id AND run = NEW.run)
BEGIN SELECT RAISE(ABORT, 'clew: events are append-only'); END;
CREATE TRIGGER inbox_moves_head AFTER INSERT ON inbox
BEGIN UPDATE runs SET seq = NEW.seq, hash = NEW.hash, recorded_at = NEW.recorded_at WHERE id = NEW.run; END;

-- While something lies in the inbox nothing else may come in front of it, and what moves on from there is known to be new.
DROP TRIGGER events_never_replaced;
CREATE TRIGGER events_never_replaced BEFORE INSERT ON events
WHEN CASE WHEN EXISTS (SELECT 1 FROM inbox)
  THEN NOT EXISTS (SELECT 1 FROM inbox WHERE position = NEW.position AND event_id = NEW.event_id AND run = NEW.run
                   AND seq = NEW.seq AND hash = NEW.hash)
  ELSE NEW.position <= (SELECT max(position) FROM events)
    OR EXISTS (SELECT 1 FROM events WHERE run = NEW.run AND seq = NEW.seq)
    OR EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id AND run = NEW.run)
  END
BEGIN SELECT RAISE(ABORT, 'clew: events are append-only'); END;
