free AS MATERIALIZED (
    -- Events that failed and may be sent again.
    SELECT e.seq, e.row_key, e.attempts FROM sync_evt AS e
    WHERE e.target = {target} AND e.attempts > 0
        AND e.row_key NOT IN (SELECT row_key FROM sync_inflight WHERE target = {target})
        AND NOT EXISTS (
            SELECT 1 FROM sync_evt AS w
            WHERE w.target = {target} AND w.row_key = e.row_key AND w.not_before > now() AND w.seq <= e.seq
        )
),
chosen AS MATERIALIZED (
    -- Rows that failed as often as each other: those that always fail never stand in front of others.
    SELECT row_key FROM (
        SELECT row_key FROM free WHERE attempts = (SELECT min(attempts) FROM free) ORDER BY seq LIMIT {limit}
    ) AS first
),
