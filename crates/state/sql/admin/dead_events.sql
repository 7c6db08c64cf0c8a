SELECT seq, row_key, rowid, change_type, snapshot_id, attempts, reason, row_image,
    CAST(extract(epoch FROM first_at) * 1000 AS BIGINT) AS first_ms,
    CAST(extract(epoch FROM last_at) * 1000 AS BIGINT) AS last_ms
FROM sync_dead WHERE target = {target} ORDER BY seq LIMIT {limit}
