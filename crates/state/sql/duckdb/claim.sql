-- Moves events of a target into a new claim. What a claim takes of a row is the row's oldest part, so that two claims
-- of one snapshot overlap or belong to different rows: overlapping ones collide at COMMIT.
INSERT INTO sync_inflight (claim_id, target, seq, row_key, rowid, change_type, snapshot_id, attempts, not_before, last_error, created_at)
WITH {with} picked AS MATERIALIZED (
    SELECT e.seq, e.row_key, e.snapshot_id FROM sync_evt AS e
    WHERE e.target = {target} AND {where}
        -- A row with an event in flight has to wait, whatever its number.
        AND e.row_key NOT IN (SELECT row_key FROM sync_inflight WHERE target = {target})
    ORDER BY e.seq LIMIT {limit}
),
taken AS MATERIALIZED (
    SELECT seq FROM picked
    UNION ALL
    -- What changed at once in the last one's group comes with it.
    SELECT e.seq FROM sync_evt AS e JOIN (SELECT * FROM picked ORDER BY seq DESC LIMIT 1) AS last
        ON e.row_key = last.row_key AND e.snapshot_id = last.snapshot_id AND e.seq > last.seq
    WHERE e.target = {target} AND NOT EXISTS (
        SELECT 1 FROM sync_evt AS w
        WHERE w.target = {target} AND w.row_key = e.row_key AND w.not_before > now() AND w.seq <= e.seq
    )
)
SELECT {claim}, e.target, e.seq, e.row_key, e.rowid, e.change_type, e.snapshot_id, e.attempts, e.not_before, e.last_error, e.created_at
FROM sync_evt AS e
-- The bounds let the engine skip what lies outside of the claim.
WHERE e.target = {target} AND e.seq >= (SELECT min(seq) FROM taken) AND e.seq <= (SELECT max(seq) FROM taken)
    AND e.seq IN (SELECT seq FROM taken);
DELETE FROM sync_evt AS e
WHERE e.target = {target}
    AND e.seq >= (SELECT min(seq) FROM sync_inflight WHERE claim_id = {claim})
    AND e.seq <= (SELECT max(seq) FROM sync_inflight WHERE claim_id = {claim})
    AND e.seq IN (SELECT seq FROM sync_inflight WHERE claim_id = {claim});
INSERT INTO sync_claim (claim_id, target, worker, run_id, claimed_at, heartbeat, lease_until)
SELECT {claim}, {target}, {worker}, {run_id}, now(), now(), {lease_end}
WHERE EXISTS (SELECT 1 FROM sync_inflight WHERE claim_id = {claim});
