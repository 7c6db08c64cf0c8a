SELECT "row" FROM {table} WHERE claim_id = {claim} AND seq >= {first_seq} AND seq < {end_seq} ORDER BY seq
