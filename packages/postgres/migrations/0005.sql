-- The steps of a run are read page by page, in the order of their start.
CREATE INDEX steps_by_start ON steps (run, started_seq);
