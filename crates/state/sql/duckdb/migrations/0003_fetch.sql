-- Attempts to fetch rows. The rows themselves are in a table per target, fetch:<target>, made when needed.
CREATE TABLE sync_fetch (
    claim_id     VARCHAR NOT NULL PRIMARY KEY,
    target       VARCHAR NOT NULL,
    worker       VARCHAR NOT NULL,
    run_id       VARCHAR NOT NULL,
    -- open or complete
    status       VARCHAR NOT NULL,
    -- What the rows depend on: rows of another fingerprint are not used.
    fingerprint  VARCHAR NOT NULL,
    row_count    BIGINT NOT NULL,
    empty_result VARCHAR,
    claimed_at   TIMESTAMPTZ NOT NULL,
    lease_until  TIMESTAMPTZ NOT NULL
);
