INSERT INTO sync_receipt (term, done, stayed, made_at)
SELECT {term}, count(*), 0, now() FROM sync_evt
WHERE target = {target} AND not_before > now() AND ({id} IS NULL OR seq = {id});
UPDATE sync_evt SET not_before = NULL
WHERE target = {target} AND not_before > now() AND ({id} IS NULL OR seq = {id});
