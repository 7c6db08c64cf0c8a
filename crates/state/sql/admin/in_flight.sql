SELECT i.target, c.worker, sum(i.events) AS events,
    CAST(extract(epoch FROM now() - min(c.claimed_at)) AS BIGINT) AS claim_age_s,
    max(CASE WHEN c.claim_id IN {held} OR NOT ({dead}) THEN 1 ELSE 0 END) AS alive
FROM (SELECT claim_id, target, count(*) AS events FROM sync_inflight GROUP BY claim_id, target) AS i
JOIN sync_claim AS c ON c.claim_id = i.claim_id
GROUP BY i.target, c.worker ORDER BY i.target, c.worker
