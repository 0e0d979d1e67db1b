-- Coordination, not events: where each consumer of the ledger stands (V9).
CREATE TABLE consumers (
  workspace TEXT NOT NULL,
  name      TEXT NOT NULL,
  position  INTEGER NOT NULL,
  version   INTEGER NOT NULL,
  failures  INTEGER NOT NULL,
  error     TEXT,
  moved_ms  INTEGER NOT NULL,
  PRIMARY KEY (workspace, name)
);

-- The version of the folds that made the rows of runs and steps, and how far a rebuild by a newer one has come.
CREATE TABLE projections (
  id        INTEGER PRIMARY KEY CHECK (id = 1),
  version   INTEGER NOT NULL,
  target    INTEGER,
  after_run INTEGER NOT NULL
);
INSERT INTO projections VALUES (1, 1, NULL, 0);

-- The first page of all runs: without it SQLite goes by run_id and sorts the whole workspace.
CREATE INDEX runs_by_workspace ON runs (workspace, id);
