SELECT claim_id AS term FROM sync_claim WHERE worker = {worker} AND claim_id IN {held}
UNION ALL SELECT term FROM sync_lease WHERE worker = {worker} AND term IN {held}
UNION ALL SELECT claim_id AS term FROM sync_fetch WHERE worker = {worker} AND claim_id IN {held}
