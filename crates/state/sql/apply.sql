-- Applies the noted outcomes of a claim to its events.
INSERT INTO sync_dead (target, seq, row_key, rowid, change_type, snapshot_id, attempts, reason, row_image, first_at,
    last_at)
SELECT i.target, i.seq, i.row_key, i.rowid, i.change_type, i.snapshot_id, i.attempts + 1, COALESCE(l.message, ''),
    l.row_image, i.created_at, l.recorded_at
FROM sync_inflight AS i JOIN sync_apply_log AS l ON l.claim_id = i.claim_id AND l.seq = i.seq
WHERE i.claim_id = {claim} AND l.status = 'reject';
INSERT INTO sync_evt (target, seq, row_key, rowid, change_type, snapshot_id, attempts, not_before, last_error, created_at)
SELECT i.target, i.seq, i.row_key, i.rowid, i.change_type, i.snapshot_id, i.attempts + 1,
    now() + COALESCE(l.retry_ms, 0) * INTERVAL '1 millisecond', l.message, i.created_at
FROM sync_inflight AS i JOIN sync_apply_log AS l ON l.claim_id = i.claim_id AND l.seq = i.seq
WHERE i.claim_id = {claim} AND l.status = 'error';
DELETE FROM sync_inflight
WHERE claim_id = {claim} AND seq IN (SELECT seq FROM sync_apply_log WHERE claim_id = {claim});
DELETE FROM sync_apply_log WHERE claim_id = {claim};
