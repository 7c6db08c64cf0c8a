INSERT INTO sync_receipt (term, done, stayed, made_at)
SELECT {term}, count(*), 0, now() FROM sync_dead WHERE target = {target} AND ({id} IS NULL OR seq = {id});
DELETE FROM sync_dead WHERE target = {target} AND ({id} IS NULL OR seq = {id});
