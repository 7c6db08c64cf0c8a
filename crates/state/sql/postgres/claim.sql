-- A queue's statistics are old as soon as they are made: without them the planner would sort all of it.
SET LOCAL enable_sort = off;
SET LOCAL enable_bitmapscan = off;
SET LOCAL enable_seqscan = off;
-- Moves events of a target into a new claim, passing over those that another worker is about to take.
WITH {with} picked AS MATERIALIZED (
    SELECT e.seq, e.row_key, e.snapshot_id FROM sync_evt AS e
    WHERE e.target = {target} AND {where}
        -- A row with an event in flight has to wait, whatever its number.
        AND e.row_key NOT IN (SELECT row_key FROM sync_inflight WHERE target = {target})
    ORDER BY e.seq LIMIT {limit}
    FOR UPDATE OF e SKIP LOCKED
),
last AS MATERIALIZED (
    SELECT seq, row_key, snapshot_id FROM picked WHERE seq = (SELECT max(seq) FROM picked)
),
behind AS MATERIALIZED (
    -- The next event that is none of the last one's group.
    SELECT COALESCE(min(e.seq), 9223372036854775807) AS seq FROM sync_evt AS e
    WHERE e.target = {target} AND e.seq > (SELECT seq FROM last) AND (
        e.row_key <> (SELECT row_key FROM last) OR e.snapshot_id <> (SELECT snapshot_id FROM last)
    )
),
rest AS MATERIALIZED (
    -- What changed at once in the last one's group comes with it.
    SELECT e.seq, e.row_key FROM sync_evt AS e
    WHERE e.target = {target} AND e.seq > (SELECT seq FROM last) AND e.seq < (SELECT seq FROM behind)
        AND NOT EXISTS (
            SELECT 1 FROM sync_evt AS w
            WHERE w.target = {target} AND w.row_key = e.row_key AND w.not_before > now() AND w.seq <= e.seq
        )
    FOR UPDATE OF e SKIP LOCKED
),
taken AS MATERIALIZED (SELECT seq, row_key FROM picked UNION ALL SELECT seq, row_key FROM rest),
passed AS MATERIALIZED (
    -- Events before the end of the claim that are not in it: later ones of the same rows must not overtake them.
    SELECT e.row_key, min(e.seq) AS seq FROM sync_evt AS e
    WHERE e.target = {target} AND e.seq <= (SELECT max(seq) FROM taken)
        AND e.seq NOT IN (SELECT seq FROM taken)
    GROUP BY e.row_key
),
moved AS (
    DELETE FROM sync_evt AS e USING taken AS t
    WHERE e.target = {target} AND e.seq = t.seq
        AND NOT EXISTS (SELECT 1 FROM passed AS q WHERE q.row_key = t.row_key AND q.seq < t.seq)
    RETURNING e.target, e.seq, e.row_key, e.rowid, e.change_type, e.snapshot_id, e.attempts, e.not_before, e.last_error, e.created_at
),
claim AS (
    INSERT INTO sync_claim (claim_id, target, worker, run_id, claimed_at, heartbeat, lease_until)
    SELECT {claim}, {target}, {worker}, {run_id}, now(), now(), {lease_end}
    WHERE EXISTS (SELECT 1 FROM moved)
)
INSERT INTO sync_inflight (claim_id, target, seq, row_key, rowid, change_type, snapshot_id, attempts, not_before, last_error, created_at)
SELECT {claim}, m.target, m.seq, m.row_key, m.rowid, m.change_type, m.snapshot_id, m.attempts, m.not_before, m.last_error, m.created_at FROM moved AS m;
