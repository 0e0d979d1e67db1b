-- Live progress (T4) by step: one row each, replaced. `change` counts on through crashes, which empty the table.
DROP TABLE progress;
CREATE SEQUENCE progress_changes;
CREATE UNLOGGED TABLE progress (
  workspace  text COLLATE "C" NOT NULL,
  run_id     text COLLATE "C" NOT NULL,
  step_id    text COLLATE "C" NOT NULL,
  attempt    integer NOT NULL,
  change     bigint NOT NULL,
  version    bigint NOT NULL,
  written_ms bigint NOT NULL,
  body       text NOT NULL,
  PRIMARY KEY (workspace, run_id, step_id, attempt)
);
CREATE INDEX progress_by_change ON progress (change);
