-- Notes what the sink answered, unless an attempt before this one has. What was noted for an event that is not in
-- flight is passed over when answers are applied.
INSERT INTO sync_apply_log (claim_id, target, seq, status, message, retry_ms, row_image, recorded_at)
SELECT {claim}, {target}, o.seq, o.status, o.message, o.retry_ms, o.row_image, now()
FROM {outcomes} AS o
WHERE NOT EXISTS (SELECT 1 FROM sync_apply_log AS l WHERE l.claim_id = {claim} AND l.seq = {first_seq});
