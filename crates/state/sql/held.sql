SELECT claim_id AS term FROM sync_claim WHERE worker = {worker}
UNION ALL SELECT term FROM sync_lease WHERE worker = {worker}
UNION ALL SELECT claim_id AS term FROM sync_fetch WHERE worker = {worker}
