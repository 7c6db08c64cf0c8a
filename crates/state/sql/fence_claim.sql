-- Renews a claim, or ends the whole transaction if it is not this worker's any more. Writing the row makes a
-- rescuer that works at the same time collide with this transaction: one of the two wins as a whole.
UPDATE sync_claim SET heartbeat = now(), lease_until = {lease_end}
WHERE claim_id = {claim} AND worker = {worker};
SELECT CAST(CASE WHEN count(*) = 1 THEN '1' ELSE 'fence:lease_lost:' || count(*) END AS INTEGER)
FROM sync_claim WHERE claim_id = {claim} AND worker = {worker};
