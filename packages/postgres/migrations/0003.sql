-- Projection: what is remembered (M1). How far the book of each scope is folded, and by which version of the fold.
CREATE TABLE memory_scopes (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace text COLLATE "C" NOT NULL,
  book      text COLLATE "C" NOT NULL,
  seq       bigint NOT NULL,
  version   integer NOT NULL
);
CREATE UNIQUE INDEX memory_scopes_by_book ON memory_scopes (workspace, book);

-- A row for each item, under the position of the event that wrote it: the value stands there. `words` and `texts` are as
-- in search_words.
CREATE TABLE memory_items (
  position   bigint PRIMARY KEY,
  scope      bigint NOT NULL,
  namespace  text COLLATE "C" NOT NULL,
  key        text COLLATE "C" NOT NULL,
  seq        bigint NOT NULL,
  born_seq   bigint NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  updated_at text COLLATE "C" NOT NULL,
  expires_at text COLLATE "C",
  tags       text[] NOT NULL,
  subjects   text[] NOT NULL,
  event_id   text COLLATE "C" NOT NULL,
  run_id     text COLLATE "C",
  bytes      bigint NOT NULL,
  tokens     bigint NOT NULL,
  words      tsvector NOT NULL,
  texts      text
);
CREATE UNIQUE INDEX memory_items_by_name ON memory_items (scope, namespace, key);
CREATE INDEX memory_items_by_scope ON memory_items (scope, position);
CREATE INDEX memory_items_by_word ON memory_items USING gin (words);
