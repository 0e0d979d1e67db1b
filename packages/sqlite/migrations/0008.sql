-- Events whose checkpoints a retention of states no longer keeps (R10). Their payloads may go, once no state that is kept
-- is folded from them.
CREATE TABLE pruned_states (position INTEGER PRIMARY KEY, pruned_at TEXT NOT NULL);
CREATE TRIGGER pruned_states_never_change BEFORE UPDATE ON pruned_states
BEGIN SELECT RAISE(ABORT, 'clew: pruned states are append-only'); END;
CREATE TRIGGER pruned_states_never_go BEFORE DELETE ON pruned_states
BEGIN SELECT RAISE(ABORT, 'clew: pruned states are append-only'); END;
CREATE TRIGGER pruned_states_never_replaced BEFORE INSERT ON pruned_states
WHEN EXISTS (SELECT 1 FROM pruned_states WHERE position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'clew: pruned states are append-only'); END;

DROP TRIGGER payloads_never_go;
CREATE TRIGGER payloads_never_go BEFORE DELETE ON payloads
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE position = OLD.position)
 AND NOT EXISTS (SELECT 1 FROM pruned_states WHERE position = OLD.position)
 AND NOT EXISTS (SELECT 1 FROM events e JOIN seals s ON s.run = e.run AND e.seq BETWEEN s.from_seq AND s.to_seq
                 WHERE e.position = OLD.position)
BEGIN SELECT RAISE(ABORT, 'clew: values are append-only'); END;
