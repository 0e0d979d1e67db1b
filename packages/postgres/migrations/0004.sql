-- Retention. Values of a scope may go once events or payloads of it went; which of them nobody refers to any more is found
-- by looking through the scope, which waits in `sweeps` for it. `revision` is raised with every value that goes, so that
-- nobody refers to one that he remembers.
CREATE INDEX runs_by_scope ON runs (scope);
CREATE TABLE sweeps (scope bigint PRIMARY KEY, mark bigint NOT NULL);
ALTER TABLE scopes ADD COLUMN revision integer NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION refuse_kept_node() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT FROM node_erasures WHERE node = OLD.id) OR EXISTS (SELECT FROM sweeps WHERE scope = OLD.scope)
  THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'clew: nodes is append-only' USING ERRCODE = 'CW002';
END $$;

-- Who refers to values that stand already, and who takes values away, meet in an advisory lock; what is read behind it is
-- read anew.
CREATE FUNCTION scope_lock(of_scope bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT hashint8extended(of_scope, 11)
$$;
CREATE FUNCTION assert_scope(of_scope bigint, its_revision integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(scope_lock(of_scope));
  IF (SELECT revision FROM scopes WHERE id = of_scope) = its_revision THEN RETURN true; END IF;
  RAISE EXCEPTION 'clew: values of a scope are gone' USING ERRCODE = 'CW001';
END $$;

-- Who forks, and who prunes what is forked from, meet in the row of the run.
CREATE FUNCTION assert_source(of_run bigint, at_seq bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM runs WHERE id = of_run FOR KEY SHARE;
  IF EXISTS (SELECT FROM events WHERE run = of_run AND seq = at_seq) THEN RETURN true; END IF;
  RAISE EXCEPTION 'clew: the event to fork from is gone' USING ERRCODE = 'CW001';
END $$;
