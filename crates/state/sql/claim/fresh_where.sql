e.attempts = 0 AND e.seq <= (SELECT last FROM near)
        AND e.row_key NOT IN (SELECT row_key FROM sync_evt WHERE target = {target} AND attempts > 0)
