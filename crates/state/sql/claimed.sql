SELECT seq, row_key, rowid, change_type, snapshot_id, attempts, last_error
FROM sync_inflight WHERE claim_id = {claim} ORDER BY seq
