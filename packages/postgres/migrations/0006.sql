-- Events whose checkpoints a retention of states no longer keeps (R10). Their payloads may go, once no state that is kept
-- is folded from them.
CREATE TABLE pruned_states (position bigint PRIMARY KEY, pruned_at text NOT NULL);
CREATE TRIGGER never_gone BEFORE DELETE ON pruned_states FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER never_changed BEFORE UPDATE ON pruned_states FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON pruned_states EXECUTE FUNCTION refuse_change();
ALTER TABLE pruned_states ENABLE ALWAYS TRIGGER never_gone;
ALTER TABLE pruned_states ENABLE ALWAYS TRIGGER never_changed;
ALTER TABLE pruned_states ENABLE ALWAYS TRIGGER never_emptied;

CREATE OR REPLACE FUNCTION refuse_kept_payload() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT FROM erasures WHERE position = OLD.position)
    OR EXISTS (SELECT FROM pruned_states WHERE position = OLD.position)
    OR EXISTS (SELECT FROM events e JOIN seals s ON s.run = e.run AND e.seq BETWEEN s.from_seq AND s.to_seq
               WHERE e.position = OLD.position) THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'clew: payloads is append-only' USING ERRCODE = 'CW002';
END $$;
