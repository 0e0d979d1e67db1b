-- The vault: encrypted originals of the secrets that redaction took out of an event, one row per event that lost any.
-- A row belongs to its payload and goes with it, in the same transaction, whoever deletes the payload.
CREATE TABLE vault (
  position bigint PRIMARY KEY,
  key_id   text NOT NULL,
  data     bytea NOT NULL
);
CREATE INDEX vault_by_key ON vault (key_id);

CREATE FUNCTION drop_vault_row() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM vault WHERE position = OLD.position;
  RETURN NULL;
END $$;
CREATE TRIGGER vault_goes_with_payload AFTER DELETE ON payloads FOR EACH ROW EXECUTE FUNCTION drop_vault_row();
ALTER TABLE payloads ENABLE ALWAYS TRIGGER vault_goes_with_payload;

-- A rotation replaces key and data in place. A row never moves to another event. Deleting one is allowed: no hash
-- depends on it, and the event keeps its placeholders.
CREATE TRIGGER never_moved BEFORE UPDATE OF position ON vault FOR EACH ROW EXECUTE FUNCTION refuse_change();
ALTER TABLE vault ENABLE ALWAYS TRIGGER never_moved;
