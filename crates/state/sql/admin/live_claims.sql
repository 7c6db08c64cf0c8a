SELECT DISTINCT worker FROM sync_claim
WHERE target = {target} AND (claim_id IN {held} OR NOT ({dead})) ORDER BY worker
