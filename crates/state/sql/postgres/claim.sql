-- A queue's statistics are old as soon as they are made: without them the planner would sort all of it.
SET LOCAL enable_sort = off;
SET LOCAL enable_bitmapscan = off;
SET LOCAL enable_seqscan = off;
-- Moves the first due events of a target into a new claim, passing over those that another worker is about to take.
WITH near AS MATERIALIZED (
    -- Looking no further than the first due events keeps a long queue as fast as a short one.
    SELECT max(seq) AS last FROM (
        SELECT seq FROM sync_evt WHERE target = {target} AND (not_before IS NULL OR not_before <= now())
        ORDER BY seq LIMIT {window}
    ) AS first
),
picked AS MATERIALIZED (
    SELECT e.seq, e.row_key FROM sync_evt AS e
    WHERE e.target = {target} AND e.seq <= (SELECT last FROM near)
        AND (e.not_before IS NULL OR e.not_before <= now())
        -- A row with an event in flight has to wait, whatever its number; one with an event that waits, from there on.
        AND e.row_key NOT IN (SELECT row_key FROM sync_inflight WHERE target = {target})
        AND (
            e.row_key NOT IN (
                SELECT row_key FROM sync_evt
                WHERE target = {target} AND not_before IS NOT NULL AND not_before > now()
            )
            OR NOT EXISTS (
                SELECT 1 FROM sync_evt AS w
                WHERE w.target = {target} AND w.row_key = e.row_key AND w.not_before IS NOT NULL
                    AND w.not_before > now() AND w.seq < e.seq
            )
        )
    ORDER BY e.seq LIMIT {limit}
    FOR UPDATE OF e SKIP LOCKED
),
passed AS MATERIALIZED (
    -- Events before the end of the chunk that are not in it: later ones of the same rows must not overtake them.
    SELECT e.row_key, min(e.seq) AS seq FROM sync_evt AS e
    WHERE e.target = {target} AND e.seq <= (SELECT max(seq) FROM picked)
        AND e.seq NOT IN (SELECT seq FROM picked)
    GROUP BY e.row_key
),
moved AS (
    DELETE FROM sync_evt AS e USING picked AS p
    WHERE e.target = {target} AND e.seq = p.seq
        AND NOT EXISTS (SELECT 1 FROM passed AS q WHERE q.row_key = p.row_key AND q.seq < p.seq)
    RETURNING e.target, e.seq, e.row_key, e.rowid, e.change_type, e.snapshot_id, e.attempts, e.not_before, e.last_error, e.created_at
),
claim AS (
    INSERT INTO sync_claim (claim_id, target, worker, run_id, claimed_at, heartbeat, lease_until)
    SELECT {claim}, {target}, {worker}, {run_id}, now(), now(), {lease_end}
    WHERE EXISTS (SELECT 1 FROM moved)
)
INSERT INTO sync_inflight (claim_id, target, seq, row_key, rowid, change_type, snapshot_id, attempts, not_before, last_error, created_at)
SELECT {claim}, m.target, m.seq, m.row_key, m.rowid, m.change_type, m.snapshot_id, m.attempts, m.not_before, m.last_error, m.created_at FROM moved AS m;
