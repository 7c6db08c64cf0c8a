-- Ends the claims of workers that are gone: what was answered is applied, the rest is dropped. Each row of
-- sync_claim is written, so that a worker that comes back to life, or a rescuer, collides.
INSERT INTO sync_dead (target, seq, row_key, rowid, change_type, snapshot_id, attempts, reason, row_image, first_at,
    last_at)
SELECT i.target, i.seq, i.row_key, i.rowid, i.change_type, i.snapshot_id, i.attempts + 1, COALESCE(l.message, ''),
    l.row_image, i.created_at, l.recorded_at
FROM sync_inflight AS i JOIN sync_apply_log AS l ON l.claim_id = i.claim_id AND l.seq = i.seq
WHERE i.target = {target} AND l.status = 'reject';
DELETE FROM sync_apply_log WHERE claim_id IN (SELECT claim_id FROM sync_claim WHERE target = {target});
DELETE FROM sync_jobref WHERE claim_id IN (SELECT claim_id FROM sync_claim WHERE target = {target});
DELETE FROM sync_inflight WHERE target = {target};
DELETE FROM sync_claim WHERE target = {target};
