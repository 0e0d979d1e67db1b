-- Projection: what is remembered (M1). How far the book of each scope is folded, and by which version of the fold.
CREATE TABLE memory_scopes (
  id        INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  book      TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  version   INTEGER NOT NULL
);
CREATE UNIQUE INDEX memory_scopes_by_book ON memory_scopes (workspace, book);

-- A row for each item, under the position of the event that wrote it: the value stands there.
CREATE TABLE memory_items (
  position   INTEGER PRIMARY KEY,
  scope      INTEGER NOT NULL REFERENCES memory_scopes (id),
  namespace  TEXT NOT NULL,
  key        TEXT NOT NULL,
  seq        INTEGER NOT NULL,
  born_seq   INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  expires_at TEXT,
  tags       TEXT NOT NULL,
  subjects   TEXT NOT NULL,
  event_id   TEXT NOT NULL,
  run_id     TEXT,
  bytes      INTEGER NOT NULL,
  tokens     INTEGER NOT NULL
);
CREATE UNIQUE INDEX memory_items_by_name ON memory_items (scope, namespace, key);
CREATE INDEX memory_items_by_scope ON memory_items (scope, position);

-- Words of the items under the same number. `place` has a tag for the scope and one for workspace and layer, so that a
-- search does not go through the words of others; `named` has the words of the name again, each with a sign before it.
CREATE VIRTUAL TABLE memory_words USING fts5(place, named, name, text, prefix = '2 3', tokenize = "unicode61 remove_diacritics 0");
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER memory_words_go AFTER DELETE ON memory_items
BEGIN DELETE FROM memory_words WHERE rowid = OLD.position; END;
