-- Notes what the sink answered. The first answer for an event of a claim stands.
INSERT INTO sync_apply_log (claim_id, target, seq, status, message, retry_ms, row_image, recorded_at)
SELECT i.claim_id, i.target, i.seq, o.status, o.message, o.retry_ms, o.row_image, now()
FROM {outcomes} AS o JOIN sync_inflight AS i ON i.claim_id = {claim} AND i.seq = o.seq
WHERE NOT EXISTS (SELECT 1 FROM sync_apply_log AS l WHERE l.claim_id = {claim} AND l.seq = o.seq);
