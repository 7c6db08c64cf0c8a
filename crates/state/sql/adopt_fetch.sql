UPDATE sync_fetch SET worker = {worker}, run_id = {run_id}, lease_until = now() + {lease_ms} * INTERVAL '1 millisecond'
WHERE claim_id = {claim} AND worker <> {worker} AND {dead};
SELECT CAST(CASE WHEN count(*) = 1 THEN '1' ELSE 'fence:lease_lost:' || count(*) END AS INTEGER)
FROM sync_fetch WHERE claim_id = {claim} AND worker = {worker};
