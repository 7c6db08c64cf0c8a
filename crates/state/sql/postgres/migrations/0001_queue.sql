-- The queue: from a table's change feed to a sink.
--
-- Keys are named after what they guard.

-- Up to where the changes of a target are in the queue. `last_seq` is the number given last: it goes on growing
-- after the queue was emptied.
CREATE TABLE sync_feed (
    target          TEXT NOT NULL PRIMARY KEY,
    snapshot_id     BIGINT NOT NULL,
    table_uuid      TEXT NOT NULL,
    definition_hash TEXT NOT NULL,
    last_seq        BIGINT NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL
);

-- Events that wait for delivery.
CREATE TABLE sync_evt (
    target      TEXT NOT NULL,
    -- The order of delivery within a target: grows with the snapshots of its table, and is kept through retries.
    seq         BIGINT NOT NULL,
    -- What "the same row" means: events with one key are delivered one after the other.
    row_key     BIGINT NOT NULL,
    rowid       BIGINT NOT NULL,
    change_type TEXT NOT NULL,
    snapshot_id BIGINT NOT NULL,
    attempts    INTEGER NOT NULL,
    -- Set after a failure: not to be delivered before.
    not_before  TIMESTAMPTZ,
    last_error  TEXT,
    created_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT an_event_is_pending_once PRIMARY KEY (target, seq)
);
-- Few rows: those that wait for a retry hold back later events of theirs.
CREATE INDEX sync_evt_waiting ON sync_evt (target, row_key) WHERE not_before IS NOT NULL;

-- Events that a worker is delivering.
CREATE TABLE sync_inflight (
    claim_id    TEXT NOT NULL,
    target      TEXT NOT NULL,
    -- The order of delivery within a target: grows with the snapshots of its table, and is kept through retries.
    seq         BIGINT NOT NULL,
    -- What "the same row" means: events with one key are delivered one after the other.
    row_key     BIGINT NOT NULL,
    rowid       BIGINT NOT NULL,
    change_type TEXT NOT NULL,
    snapshot_id BIGINT NOT NULL,
    attempts    INTEGER NOT NULL,
    -- Set after a failure: not to be delivered before.
    not_before  TIMESTAMPTZ,
    last_error  TEXT,
    created_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT an_event_is_claimed_once PRIMARY KEY (target, seq)
);
CREATE INDEX sync_inflight_claim ON sync_inflight (claim_id);

-- One row per set of events that a worker holds. The row is the lease: who changes or deletes it, ends it.
CREATE TABLE sync_claim (
    claim_id    TEXT NOT NULL PRIMARY KEY,
    target      TEXT NOT NULL,
    worker      TEXT NOT NULL,
    run_id      TEXT NOT NULL,
    claimed_at  TIMESTAMPTZ NOT NULL,
    heartbeat   TIMESTAMPTZ NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL
);

-- What the sink answered, not yet applied to the events.
CREATE TABLE sync_apply_log (
    claim_id    TEXT NOT NULL,
    target      TEXT NOT NULL,
    seq         BIGINT NOT NULL,
    -- ok, warn, error or reject
    status      TEXT NOT NULL,
    message     TEXT,
    -- For `error`: how long to wait, in milliseconds.
    retry_ms    BIGINT,
    -- For `reject`: the row as it was sent, as JSON.
    row_image   TEXT,
    recorded_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT an_event_has_one_outcome_per_claim PRIMARY KEY (claim_id, seq)
);

-- Jobs that a sink works on by itself; polled until they are done.
CREATE TABLE sync_jobref (
    claim_id    TEXT NOT NULL,
    batch       INTEGER NOT NULL,
    target      TEXT NOT NULL,
    job_ref     TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    -- The job's events are those of the claim from first_seq to last_seq.
    first_seq   BIGINT NOT NULL,
    last_seq    BIGINT NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (claim_id, batch)
);

-- Events that a person has to look at.
CREATE TABLE sync_dead (
    target      TEXT NOT NULL,
    seq         BIGINT NOT NULL,
    row_key     BIGINT NOT NULL,
    rowid       BIGINT NOT NULL,
    change_type TEXT NOT NULL,
    snapshot_id BIGINT NOT NULL,
    attempts    INTEGER NOT NULL,
    reason      TEXT NOT NULL,
    row_image   TEXT,
    first_at    TIMESTAMPTZ NOT NULL,
    last_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT an_event_is_dead_once PRIMARY KEY (target, seq)
);

-- The history of deliveries: one row per run and target.
CREATE TABLE sync_log (
    run_id      TEXT NOT NULL,
    target      TEXT NOT NULL,
    worker      TEXT NOT NULL,
    delivered   BIGINT NOT NULL,
    rejected    BIGINT NOT NULL,
    to_retry    BIGINT NOT NULL,
    first_error TEXT,
    duration_ms BIGINT NOT NULL,
    finished_at TIMESTAMPTZ NOT NULL
);
