SELECT target, sum(pending) AS pending, sum(waiting) AS waiting, sum(in_flight) AS in_flight, sum(dead) AS dead,
    CAST(extract(epoch FROM now() - min(since)) AS BIGINT) AS oldest_s
FROM (
    SELECT target, count(*) AS pending, CAST(0 AS BIGINT) AS waiting, CAST(0 AS BIGINT) AS in_flight,
        CAST(0 AS BIGINT) AS dead, min(created_at) AS since
    FROM sync_evt WHERE not_before IS NULL OR not_before <= now() GROUP BY target
    UNION ALL
    SELECT target, 0, count(*), 0, 0, min(created_at) FROM sync_evt WHERE not_before > now() GROUP BY target
    UNION ALL
    SELECT target, 0, 0, count(*), 0, min(created_at) FROM sync_inflight GROUP BY target
    UNION ALL
    SELECT target, 0, 0, 0, count(*), min(first_at) FROM sync_dead GROUP BY target
) AS parts GROUP BY target ORDER BY target
