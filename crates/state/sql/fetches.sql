SELECT claim_id, worker, status, fingerprint, row_count, empty_result, ({dead}) AND claim_id NOT IN {held} AS dead
FROM sync_fetch WHERE target = {target} ORDER BY claimed_at, claim_id
