UPDATE sync_fetch SET status = 'complete', row_count = {row_count}, empty_result = {empty_result}
WHERE claim_id = {claim} AND worker = {worker};
