-- An event that is deleted from the inbox moves on, whoever deletes it; the oldest first, for what lies there is newer than
-- all else. Refusals roll the transaction back: for ABORT, SQLite copies all pages that a statement changes beforehand.
DROP TRIGGER inbox_only_moves_on;
CREATE TRIGGER inbox_moves_on BEFORE DELETE ON inbox
BEGIN
  SELECT RAISE(ROLLBACK, 'clew: events are append-only') WHERE EXISTS (SELECT 1 FROM inbox WHERE position < OLD.position);
  INSERT OR IGNORE INTO events (position, run, seq, event_id, event_type, timestamp, origin, runtime, causation_id, recorded_at,
      schema_version, payload_hash, hash, follows)
    VALUES (OLD.position, OLD.run, OLD.seq, OLD.event_id, OLD.event_type, OLD.timestamp, OLD.origin, OLD.runtime, OLD.causation_id,
      OLD.recorded_at, OLD.schema_version, OLD.payload_hash, OLD.hash, OLD.follows);
  INSERT OR IGNORE INTO payloads (position, salt, mac, body) VALUES (OLD.position, OLD.salt, OLD.mac, OLD.body);
  -- Ignored was only what another client of the file had moved by hand.
  SELECT RAISE(ROLLBACK, 'clew: events are append-only')
    WHERE NOT EXISTS (SELECT 1 FROM events WHERE position = OLD.position AND hash = OLD.hash);
END;

DROP TRIGGER inbox_never_replaced;
CREATE TRIGGER inbox_never_replaced BEFORE INSERT ON inbox
WHEN NEW.position <= coalesce((SELECT max(position) FROM inbox), (SELECT max(position) FROM events))
  OR NEW.seq <= (SELECT seq FROM runs WHERE id = NEW.run)
  OR EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id AND run = NEW.run)
  OR EXISTS (SELECT 1 FROM inbox WHERE event_id = NEW.event_id AND run = NEW.run)
BEGIN SELECT RAISE(ROLLBACK, 'clew: events are append-only'); END;

DROP TRIGGER events_never_replaced;
CREATE TRIGGER events_never_replaced BEFORE INSERT ON events
WHEN CASE WHEN EXISTS (SELECT 1 FROM inbox)
  THEN NOT EXISTS (SELECT 1 FROM inbox WHERE position = NEW.position AND event_id = NEW.event_id AND run = NEW.run
                   AND seq = NEW.seq AND hash = NEW.hash)
  ELSE NEW.position <= (SELECT max(position) FROM events)
    OR EXISTS (SELECT 1 FROM events WHERE run = NEW.run AND seq = NEW.seq)
    OR EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id AND run = NEW.run)
  END
BEGIN SELECT RAISE(ROLLBACK, 'clew: events are append-only'); END;

DROP TRIGGER nodes_never_replaced;
CREATE TRIGGER nodes_never_replaced BEFORE INSERT ON nodes
WHEN EXISTS (SELECT 1 FROM nodes WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM nodes WHERE scope = NEW.scope AND hash = NEW.hash)
BEGIN SELECT RAISE(ROLLBACK, 'clew: values are append-only'); END;
