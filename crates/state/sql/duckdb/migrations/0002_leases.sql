-- Leases on anything that only one worker may do at a time, by name: planning and running a model, refreshing a
-- token. A row stays after its lease; `worker` is then empty.
CREATE TABLE sync_lease (
    target      VARCHAR NOT NULL PRIMARY KEY,
    -- Drawn anew each time the lease is taken: the holder's proof.
    term        VARCHAR NOT NULL,
    worker      VARCHAR NOT NULL,
    run_id      VARCHAR NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL
);
