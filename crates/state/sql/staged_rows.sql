SELECT "row" FROM {table} WHERE claim_id = {claim} ORDER BY seq
