-- Later events are of another table. A claim that begins at the same time deletes events that this transaction
-- deletes too: of the two one collides.
INSERT INTO sync_receipt (term, done, stayed, made_at)
SELECT {term}, (SELECT count(*) FROM sync_evt WHERE target = {target} AND seq <= {up_to}),
    (SELECT count(*) FROM sync_inflight WHERE target = {target} AND seq <= {up_to}), now();
INSERT INTO sync_dead (target, seq, row_key, rowid, change_type, snapshot_id, attempts, reason, row_image, first_at,
    last_at)
SELECT target, seq, row_key, rowid, change_type, snapshot_id, attempts, {gone}, NULL, created_at, now()
FROM sync_evt WHERE target = {target} AND seq <= {up_to};
DELETE FROM sync_evt WHERE target = {target} AND seq <= {up_to};
