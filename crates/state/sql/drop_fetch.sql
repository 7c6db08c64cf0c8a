DELETE FROM {table} WHERE claim_id = {claim};
DELETE FROM sync_fetch WHERE claim_id = {claim};
