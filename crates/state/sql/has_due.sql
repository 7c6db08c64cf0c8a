SELECT seq FROM sync_evt WHERE target = {target} AND (not_before IS NULL OR not_before <= now()) LIMIT 1
