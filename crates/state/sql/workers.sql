SELECT worker, sum(claims) AS claims, sum(leases) AS leases, sum(fetches) AS fetches,
    CAST(extract(epoch FROM max(lease_until) - now()) AS BIGINT) AS lease_s
FROM (
    SELECT worker, CAST(1 AS BIGINT) AS claims, CAST(0 AS BIGINT) AS leases, CAST(0 AS BIGINT) AS fetches, lease_until
    FROM sync_claim
    UNION ALL SELECT worker, 0, 1, 0, lease_until FROM sync_lease WHERE worker <> ''
    UNION ALL SELECT worker, 0, 0, 1, lease_until FROM sync_fetch
) AS held GROUP BY worker ORDER BY worker
