-- Moves the first due events of a target into a new claim. What a chunk takes of a row is the row's oldest part,
-- so that two chunks of one snapshot overlap or belong to different rows: overlapping ones collide at COMMIT.
INSERT INTO sync_inflight (claim_id, target, seq, row_key, rowid, change_type, snapshot_id, attempts, not_before, last_error, created_at)
WITH busy AS MATERIALIZED (
    -- A row with an event in flight has to wait, whatever its number.
    SELECT row_key, 0 AS seq FROM sync_inflight WHERE target = {target}
    UNION ALL
    SELECT row_key, min(seq) FROM sync_evt WHERE target = {target} AND not_before > now() GROUP BY row_key
),
near AS MATERIALIZED (
    -- Looking no further than the first due events keeps a long queue as fast as a short one.
    SELECT max(seq) AS last FROM (
        SELECT seq FROM sync_evt WHERE target = {target} AND (not_before IS NULL OR not_before <= now())
        ORDER BY seq LIMIT {window}
    ) AS first
),
picked AS MATERIALIZED (
    SELECT e.seq FROM sync_evt AS e
    WHERE e.target = {target} AND e.seq <= (SELECT last FROM near)
        AND (e.not_before IS NULL OR e.not_before <= now())
        AND NOT EXISTS (SELECT 1 FROM busy AS b WHERE b.row_key = e.row_key AND b.seq < e.seq)
    ORDER BY e.seq LIMIT {limit}
)
SELECT {claim}, e.target, e.seq, e.row_key, e.rowid, e.change_type, e.snapshot_id, e.attempts, e.not_before, e.last_error, e.created_at
FROM sync_evt AS e
-- The bounds let the engine skip what lies outside of the chunk.
WHERE e.target = {target} AND e.seq >= (SELECT min(seq) FROM picked) AND e.seq <= (SELECT max(seq) FROM picked)
    AND e.seq IN (SELECT seq FROM picked);
DELETE FROM sync_evt AS e
WHERE e.target = {target}
    AND e.seq >= (SELECT min(seq) FROM sync_inflight WHERE claim_id = {claim})
    AND e.seq <= (SELECT max(seq) FROM sync_inflight WHERE claim_id = {claim})
    AND e.seq IN (SELECT seq FROM sync_inflight WHERE claim_id = {claim});
INSERT INTO sync_claim (claim_id, target, worker, run_id, claimed_at, heartbeat, lease_until)
SELECT {claim}, {target}, {worker}, {run_id}, now(), now(), {lease_end}
WHERE EXISTS (SELECT 1 FROM sync_inflight WHERE claim_id = {claim});
