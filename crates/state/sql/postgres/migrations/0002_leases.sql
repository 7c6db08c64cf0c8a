-- Leases on anything that only one worker may do at a time, by name: planning and running a model, refreshing a
-- token. A row stays after its lease; `worker` is then empty.
CREATE TABLE sync_lease (
    target      TEXT NOT NULL PRIMARY KEY,
    -- Drawn anew each time the lease is taken: the holder's proof.
    term        TEXT NOT NULL,
    worker      TEXT NOT NULL,
    run_id      TEXT NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL
);
