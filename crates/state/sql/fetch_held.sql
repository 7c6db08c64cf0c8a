SELECT count(*) AS held FROM sync_fetch WHERE claim_id = {claim} AND worker = {worker}
