-- Up to which seq the summary of a run and the rows of its steps are folded. The head is written with every commit,
-- these rows only now and then: what they lack is folded from the events when it is asked for.
ALTER TABLE runs ADD COLUMN folded_seq INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET folded_seq = seq;
