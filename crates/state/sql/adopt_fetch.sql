SELECT CAST(CASE WHEN count(*) = 1 THEN '1' ELSE 'fence:lease_lost:' || count(*) END AS INTEGER)
FROM sync_fetch WHERE claim_id = {claim} AND claim_id NOT IN {held} AND (worker = {worker} OR {dead});
UPDATE sync_fetch SET worker = {worker}, run_id = {run_id}, lease_until = {lease_end} WHERE claim_id = {claim};
