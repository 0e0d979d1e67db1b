-- The vault: encrypted originals of the secrets that redaction took out of an event, one row per event that lost any.
-- A row belongs to its payload and goes with it, in the same transaction, whoever deletes the payload.
CREATE TABLE vault (
  position INTEGER PRIMARY KEY,
  key_id   TEXT NOT NULL,
  data     BLOB NOT NULL
);
CREATE INDEX vault_by_key ON vault (key_id);

CREATE TRIGGER vault_goes_with_payload AFTER DELETE ON payloads
BEGIN DELETE FROM vault WHERE position = OLD.position; END;

-- A rotation replaces key and data in place. A row never moves to another event. Deleting one is allowed: no hash
-- depends on it, and the event keeps its placeholders.
CREATE TRIGGER vault_never_moves BEFORE UPDATE OF position ON vault
BEGIN SELECT RAISE(ABORT, 'clew: vault rows stay with their event'); END;
CREATE TRIGGER vault_never_replaced BEFORE INSERT ON vault
WHEN EXISTS (SELECT 1 FROM vault WHERE position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'clew: vault rows stay with their event'); END;
