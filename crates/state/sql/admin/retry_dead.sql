-- Dead letters come back behind everything else, under numbers that were never given: one that kept its number could
-- come between two claims of its row. Whoever feeds at the same time collides, or finds that the position moved. Those of a
-- table that was dropped stay: their rows cannot be read any more. With one comes what changed at once in its group.
INSERT INTO sync_receipt (term, done, stayed, made_at)
SELECT {term}, COALESCE(sum(CASE WHEN d.seq > f.since_seq THEN 1 ELSE 0 END), 0),
    COALESCE(sum(CASE WHEN d.seq > f.since_seq THEN 0 ELSE 1 END), 0), now()
FROM sync_dead AS d JOIN sync_feed AS f ON f.target = d.target
WHERE d.target = {target} AND ({id} IS NULL OR d.seq = {id} OR (d.row_key, d.snapshot_id) IN (
    SELECT row_key, snapshot_id FROM sync_dead WHERE target = {target} AND seq = {id}
));
UPDATE sync_feed SET last_seq = last_seq + (SELECT done FROM sync_receipt WHERE term = {term}), updated_at = now()
WHERE target = {target};
INSERT INTO sync_evt (target, seq, row_key, rowid, change_type, snapshot_id, attempts, not_before, last_error, created_at)
SELECT d.target, f.last_seq - r.done + row_number() OVER (ORDER BY d.seq), d.row_key, d.rowid, d.change_type,
    d.snapshot_id, 0, NULL, NULL, d.first_at
FROM sync_dead AS d JOIN sync_feed AS f ON f.target = d.target JOIN sync_receipt AS r ON r.term = {term}
WHERE d.target = {target} AND ({id} IS NULL OR d.seq = {id} OR (d.row_key, d.snapshot_id) IN (
    SELECT row_key, snapshot_id FROM sync_dead WHERE target = {target} AND seq = {id}
)) AND d.seq > f.since_seq;
DELETE FROM sync_dead
WHERE target = {target} AND ({id} IS NULL OR seq = {id} OR (row_key, snapshot_id) IN (
    SELECT row_key, snapshot_id FROM sync_dead WHERE target = {target} AND seq = {id}
))
    AND seq > (SELECT max(since_seq) FROM sync_feed WHERE target = {target});
