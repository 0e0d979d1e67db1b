-- Retention. Values of a scope may go once events or payloads of it went; which of them nobody refers to any more is found
-- by looking through the scope, which waits in `sweeps` for it.
CREATE INDEX runs_by_scope ON runs (scope);
CREATE TABLE sweeps (scope INTEGER PRIMARY KEY, mark INTEGER NOT NULL);

DROP TRIGGER nodes_never_go;
CREATE TRIGGER nodes_never_go BEFORE DELETE ON nodes
WHEN NOT EXISTS (SELECT 1 FROM node_erasures WHERE node = OLD.id)
 AND NOT EXISTS (SELECT 1 FROM sweeps WHERE scope = OLD.scope)
BEGIN SELECT RAISE(ABORT, 'clew: values are append-only'); END;
