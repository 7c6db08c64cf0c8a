SELECT p.target, sum(p.pending) AS pending, sum(p.waiting) AS waiting, sum(p.dead) AS dead,
    CAST(extract(epoch FROM min(p.next_at)) * 1000 AS BIGINT) AS next_ms,
    CAST(extract(epoch FROM min(p.next_at) - now()) AS BIGINT) AS next_in_s,
    CAST(extract(epoch FROM now() - min(p.since)) AS BIGINT) AS oldest_s
FROM (
    SELECT target, count(*) AS pending, CAST(0 AS BIGINT) AS waiting, CAST(0 AS BIGINT) AS dead,
        CAST(NULL AS TIMESTAMPTZ) AS next_at, min(created_at) AS since
    FROM sync_evt WHERE not_before IS NULL OR not_before <= now() GROUP BY target
    UNION ALL
    SELECT target, 0, count(*), 0, min(not_before), min(created_at) FROM sync_evt WHERE not_before > now() GROUP BY target
    UNION ALL
    SELECT target, 0, 0, 0, NULL, min(created_at) FROM sync_inflight GROUP BY target
    UNION ALL
    SELECT target, 0, 0, count(*), NULL, NULL FROM sync_dead GROUP BY target
    UNION ALL
    SELECT target, 0, 0, 0, NULL, NULL FROM sync_feed
) AS p GROUP BY p.target ORDER BY p.target
