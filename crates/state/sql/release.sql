-- Gives back what has no outcome, as it was, and ends the claim.
INSERT INTO sync_evt (target, seq, row_key, rowid, change_type, snapshot_id, attempts, not_before, last_error, created_at)
SELECT target, seq, row_key, rowid, change_type, snapshot_id, attempts, not_before, last_error, created_at
FROM sync_inflight WHERE claim_id = {claim};
DELETE FROM sync_inflight WHERE claim_id = {claim};
DELETE FROM sync_jobref WHERE claim_id = {claim};
DELETE FROM sync_claim WHERE claim_id = {claim};
