-- The queue: from a table's change feed to a sink.
--
-- Tables that events move through have no keys here: an index makes moving them four times slower and keeps the
-- file from giving back the room of what was delivered. That (target, seq) is unique follows from `last_seq`.

-- Up to where the changes of a target are in the queue. `last_seq` is the number given last: it goes on growing
-- after the queue was emptied.
CREATE TABLE sync_feed (
    target          VARCHAR NOT NULL PRIMARY KEY,
    snapshot_id     BIGINT NOT NULL,
    table_uuid      VARCHAR NOT NULL,
    definition_hash VARCHAR NOT NULL,
    last_seq        BIGINT NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL
);

-- Events that wait for delivery.
CREATE TABLE sync_evt (
    target      VARCHAR NOT NULL,
    -- The order of delivery within a target: grows with the snapshots of its table, and is kept through retries.
    seq         BIGINT NOT NULL,
    -- What "the same row" means: events with one key are delivered one after the other.
    row_key     BIGINT NOT NULL,
    rowid       BIGINT NOT NULL,
    change_type VARCHAR NOT NULL,
    snapshot_id BIGINT NOT NULL,
    attempts    INTEGER NOT NULL,
    -- Set after a failure: not to be delivered before.
    not_before  TIMESTAMPTZ,
    last_error  VARCHAR,
    created_at  TIMESTAMPTZ NOT NULL
);

-- Events that a worker is delivering.
CREATE TABLE sync_inflight (
    claim_id    VARCHAR NOT NULL,
    target      VARCHAR NOT NULL,
    -- The order of delivery within a target: grows with the snapshots of its table, and is kept through retries.
    seq         BIGINT NOT NULL,
    -- What "the same row" means: events with one key are delivered one after the other.
    row_key     BIGINT NOT NULL,
    rowid       BIGINT NOT NULL,
    change_type VARCHAR NOT NULL,
    snapshot_id BIGINT NOT NULL,
    attempts    INTEGER NOT NULL,
    -- Set after a failure: not to be delivered before.
    not_before  TIMESTAMPTZ,
    last_error  VARCHAR,
    created_at  TIMESTAMPTZ NOT NULL
);

-- One row per set of events that a worker holds. The row is the lease: who changes or deletes it, ends it.
CREATE TABLE sync_claim (
    claim_id    VARCHAR NOT NULL PRIMARY KEY,
    target      VARCHAR NOT NULL,
    worker      VARCHAR NOT NULL,
    run_id      VARCHAR NOT NULL,
    claimed_at  TIMESTAMPTZ NOT NULL,
    heartbeat   TIMESTAMPTZ NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL
);

-- What the sink answered, not yet applied to the events.
CREATE TABLE sync_apply_log (
    claim_id    VARCHAR NOT NULL,
    target      VARCHAR NOT NULL,
    seq         BIGINT NOT NULL,
    -- ok, warn, error or reject
    status      VARCHAR NOT NULL,
    message     VARCHAR,
    -- For `error`: how long to wait, in milliseconds.
    retry_ms    BIGINT,
    -- For `reject`: the row as it was sent, as JSON.
    row_image   VARCHAR,
    recorded_at TIMESTAMPTZ NOT NULL
);

-- Jobs that a sink works on by itself; polled until they are done.
CREATE TABLE sync_jobref (
    claim_id    VARCHAR NOT NULL,
    batch       INTEGER NOT NULL,
    target      VARCHAR NOT NULL,
    job_ref     VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    -- The job's events are those of the claim from first_seq to last_seq.
    first_seq   BIGINT NOT NULL,
    last_seq    BIGINT NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (claim_id, batch)
);

-- Events that a person has to look at.
CREATE TABLE sync_dead (
    target      VARCHAR NOT NULL,
    seq         BIGINT NOT NULL,
    row_key     BIGINT NOT NULL,
    rowid       BIGINT NOT NULL,
    change_type VARCHAR NOT NULL,
    snapshot_id BIGINT NOT NULL,
    attempts    INTEGER NOT NULL,
    reason      VARCHAR NOT NULL,
    row_image   VARCHAR,
    first_at    TIMESTAMPTZ NOT NULL,
    last_at     TIMESTAMPTZ NOT NULL
);

-- The history of deliveries: one row per run and target.
CREATE TABLE sync_log (
    run_id      VARCHAR NOT NULL,
    target      VARCHAR NOT NULL,
    worker      VARCHAR NOT NULL,
    delivered   BIGINT NOT NULL,
    rejected    BIGINT NOT NULL,
    to_retry    BIGINT NOT NULL,
    first_error VARCHAR,
    duration_ms BIGINT NOT NULL,
    finished_at TIMESTAMPTZ NOT NULL
);
