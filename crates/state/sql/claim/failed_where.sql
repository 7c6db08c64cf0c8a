e.row_key IN (SELECT row_key FROM chosen)
        AND NOT EXISTS (
            SELECT 1 FROM sync_evt AS w
            WHERE w.target = {target} AND w.row_key = e.row_key AND w.not_before > now() AND w.seq <= e.seq
        )
