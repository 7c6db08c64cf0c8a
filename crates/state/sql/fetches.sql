SELECT claim_id, target, status, fingerprint, row_count, empty_result, ({dead}) AND claim_id NOT IN {held} AS dead
FROM sync_fetch ORDER BY claimed_at, claim_id
