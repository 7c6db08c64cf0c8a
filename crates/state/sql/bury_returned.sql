-- What comes back of a table that was dropped meanwhile is not for the one that is there now.
INSERT INTO sync_dead (target, seq, row_key, rowid, change_type, snapshot_id, attempts, reason, row_image, first_at,
    last_at)
SELECT target, seq, row_key, rowid, change_type, snapshot_id, attempts, {gone}, NULL, created_at, now()
FROM sync_evt
WHERE target = {target} AND seq <= (SELECT max(since_seq) FROM sync_feed WHERE target = {target});
DELETE FROM sync_evt
WHERE target = {target} AND seq <= (SELECT max(since_seq) FROM sync_feed WHERE target = {target});
