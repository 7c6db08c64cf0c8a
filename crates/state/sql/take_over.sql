-- Makes a dead claim this worker's, if nobody else did and it is still dead. Of two that try at once one collides.
SELECT CAST(CASE WHEN count(*) = 1 THEN '1' ELSE 'fence:lease_lost:' || count(*) END AS INTEGER)
FROM sync_claim WHERE claim_id = {claim} AND worker = {dead_worker} AND {dead};
UPDATE sync_claim SET worker = {worker}, heartbeat = now(), lease_until = {lease_end} WHERE claim_id = {claim};
