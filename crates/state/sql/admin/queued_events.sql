-- Each part is cut by itself, so that a long queue is not sorted for its first events.
SELECT seq, row_key, rowid, change_type, snapshot_id, attempts, last_error, due_in_s, worker FROM (
    (SELECT seq, row_key, rowid, change_type, snapshot_id, attempts, last_error,
        CAST(CASE WHEN not_before > now() THEN ceil(extract(epoch FROM not_before - now())) END AS BIGINT) AS due_in_s,
        CAST(NULL AS {text}) AS worker
    FROM sync_evt WHERE target = {target} ORDER BY seq LIMIT {limit})
    UNION ALL
    (SELECT i.seq, i.row_key, i.rowid, i.change_type, i.snapshot_id, i.attempts, i.last_error, NULL,
        COALESCE(c.worker, '')
    FROM sync_inflight AS i LEFT JOIN sync_claim AS c ON c.claim_id = i.claim_id
    WHERE i.target = {target} AND NOT EXISTS (
        -- What is answered is only not applied yet.
        SELECT 1 FROM sync_apply_log AS l WHERE l.claim_id = i.claim_id AND l.seq = i.seq
    )
    ORDER BY i.seq LIMIT {limit})
) AS e ORDER BY seq LIMIT {limit}
