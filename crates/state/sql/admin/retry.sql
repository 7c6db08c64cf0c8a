-- With one event comes what changed at once in its group: it is delivered together.
INSERT INTO sync_receipt (term, done, stayed, made_at)
SELECT {term}, count(*), 0, now() FROM sync_evt
WHERE target = {target} AND not_before > now() AND ({id} IS NULL OR seq = {id} OR (row_key, snapshot_id) IN (
    SELECT row_key, snapshot_id FROM sync_evt WHERE target = {target} AND seq = {id}
));
UPDATE sync_evt SET not_before = NULL
WHERE target = {target} AND not_before > now() AND ({id} IS NULL OR seq = {id} OR (row_key, snapshot_id) IN (
    SELECT row_key, snapshot_id FROM sync_evt WHERE target = {target} AND seq = {id}
));
