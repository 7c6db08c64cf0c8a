-- What the verbs behind the commands of the queue did, by a random term: a request that is executed twice finds its
-- own and does nothing more. Kept for a day.
CREATE TABLE sync_receipt (
    term    TEXT NOT NULL PRIMARY KEY,
    -- Events that it changed.
    done    BIGINT NOT NULL,
    -- Events that it left, since they were in flight.
    stayed  BIGINT NOT NULL,
    made_at TIMESTAMPTZ NOT NULL
);
