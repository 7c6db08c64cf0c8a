-- Attempts to fetch rows. The rows themselves are in a table per target, fetch:<target>, made when needed.
CREATE TABLE sync_fetch (
    claim_id     TEXT NOT NULL PRIMARY KEY,
    target       TEXT NOT NULL,
    worker       TEXT NOT NULL,
    run_id       TEXT NOT NULL,
    -- open or complete
    status       TEXT NOT NULL,
    -- What the rows depend on: rows of another fingerprint are not used.
    fingerprint  TEXT NOT NULL,
    row_count    BIGINT NOT NULL,
    empty_result TEXT,
    claimed_at   TIMESTAMPTZ NOT NULL,
    lease_until  TIMESTAMPTZ NOT NULL
);
