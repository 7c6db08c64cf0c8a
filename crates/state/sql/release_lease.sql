SELECT CAST(CASE WHEN count(*) = 1 THEN '1' ELSE 'fence:lease_lost:' || count(*) END AS INTEGER)
FROM sync_lease WHERE target = {target} AND term = {term} AND worker = {worker};
UPDATE sync_lease SET worker = '', lease_until = now() WHERE target = {target} AND term = {term};
