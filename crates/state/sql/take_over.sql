-- Makes a dead worker's claim this worker's, if nobody else did and it is still dead.
UPDATE sync_claim SET worker = {worker}, heartbeat = now(), lease_until = now() + {lease_ms} * INTERVAL '1 millisecond'
WHERE claim_id = {claim} AND worker = {dead_worker} AND {dead};
SELECT CAST(CASE WHEN count(*) = 1 THEN '1' ELSE 'fence:lease_lost:' || count(*) END AS INTEGER)
FROM sync_claim WHERE claim_id = {claim} AND worker = {worker};
