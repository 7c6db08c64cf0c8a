SELECT target, run_id, delivered, rejected, to_retry, first_error, finished_ms FROM (
    SELECT target, run_id, delivered, rejected, to_retry, first_error,
        CAST(extract(epoch FROM finished_at) * 1000 AS BIGINT) AS finished_ms,
        row_number() OVER (PARTITION BY target ORDER BY finished_at DESC, run_id DESC) AS place
    FROM sync_log
) AS l WHERE place = 1
