-- Renews a fetch, or ends the whole transaction if it is not this worker's any more.
UPDATE sync_fetch SET lease_until = {lease_end}
WHERE claim_id = {claim} AND worker = {worker};
SELECT CAST(CASE WHEN count(*) = 1 THEN '1' ELSE 'fence:lease_lost:' || count(*) END AS INTEGER)
FROM sync_fetch WHERE claim_id = {claim} AND worker = {worker} AND status = {status};
