-- Most events are caused by the event right before them in their run. Those are found from there, and the index of
-- causes holds only the others: one page less is written with every commit of a loop.
ALTER TABLE events ADD COLUMN follows INTEGER NOT NULL DEFAULT 0;
DROP INDEX events_by_cause;
CREATE INDEX events_by_cause ON events (causation_id) WHERE causation_id IS NOT NULL AND follows = 0;

-- Ids and digests of steps as bytes, where they have the usual form: half of the text that a step's row would have.
ALTER TABLE steps ADD COLUMN span BLOB;
ALTER TABLE steps ADD COLUMN digest BLOB;
