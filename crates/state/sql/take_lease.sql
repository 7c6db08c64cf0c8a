-- A term that is there already was given back: a request that comes late takes nothing.
UPDATE sync_lease SET term = {term}, worker = {worker}, run_id = {run_id}, lease_until = {lease_end}
WHERE target = {target} AND term <> {term} AND (worker = '' OR (term NOT IN {held} AND {dead}));
INSERT INTO sync_lease (target, term, worker, run_id, lease_until)
SELECT {target}, {term}, {worker}, {run_id}, {lease_end}
WHERE NOT EXISTS (SELECT 1 FROM sync_lease WHERE target = {target});
SELECT CAST(CASE WHEN count(*) = 1 THEN '1' ELSE 'fence:lease_held:' || count(*) END AS INTEGER)
FROM sync_lease WHERE target = {target} AND term = {term} AND worker = {worker};
