-- When a run can be gone on with by whoever has its agent: what workers look for. Null for all that wait for nobody.
ALTER TABLE runs ADD COLUMN due_ms INTEGER;
UPDATE runs SET due_ms = CAST(round(unixepoch(
    CASE WHEN status <> 'interrupted' AND json_extract(summary, '$.dueAt') IS NOT NULL THEN json_extract(summary, '$.dueAt')
         ELSE recorded_at END, 'subsec') * 1000) AS INTEGER)
 WHERE json_extract(summary, '$.parentRunId') IS NULL
   AND (status IN ('pending', 'interrupted') OR (status = 'paused' AND json_extract(summary, '$.dueAt') IS NOT NULL));
CREATE INDEX runs_by_due ON runs (workspace, agent, due_ms) WHERE due_ms IS NOT NULL;

-- Child runs by the run they work for.
ALTER TABLE runs ADD COLUMN parent_run_id TEXT;
UPDATE runs SET parent_run_id = json_extract(summary, '$.parentRunId') WHERE json_extract(summary, '$.parentRunId') IS NOT NULL;
CREATE INDEX runs_by_parent ON runs (workspace, parent_run_id, id) WHERE parent_run_id IS NOT NULL;
