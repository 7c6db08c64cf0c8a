near AS MATERIALIZED (
    -- Looking no further than the first events keeps a long queue as fast as a short one.
    SELECT max(seq) AS last FROM (
        SELECT seq FROM sync_evt WHERE target = {target} AND attempts = 0 ORDER BY seq LIMIT {window}
    ) AS first
),
