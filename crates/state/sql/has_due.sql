SELECT EXISTS (SELECT 1 FROM sync_evt WHERE target = {target} AND attempts = 0) AS fresh,
    EXISTS (
        SELECT 1 FROM sync_evt WHERE target = {target} AND attempts > 0 AND (not_before IS NULL OR not_before <= now())
    ) AS failed
