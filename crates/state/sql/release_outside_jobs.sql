-- Gives back what the sink is not working on; the rest stays claimed until its job is polled to the end.
INSERT INTO sync_evt (target, seq, row_key, rowid, change_type, snapshot_id, attempts, not_before, last_error, created_at)
SELECT i.target, i.seq, i.row_key, i.rowid, i.change_type, i.snapshot_id, i.attempts, i.not_before, i.last_error, i.created_at
FROM sync_inflight AS i WHERE i.claim_id = {claim} AND NOT EXISTS (
    SELECT 1 FROM sync_jobref AS j WHERE j.claim_id = i.claim_id AND i.seq >= j.first_seq AND i.seq <= j.last_seq
);
DELETE FROM sync_inflight AS i WHERE i.claim_id = {claim} AND NOT EXISTS (
    SELECT 1 FROM sync_jobref AS j WHERE j.claim_id = i.claim_id AND i.seq >= j.first_seq AND i.seq <= j.last_seq
);
