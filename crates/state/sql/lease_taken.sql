SELECT worker FROM sync_lease
WHERE target = {target} AND worker <> '' AND NOT (term NOT IN {held} AND {dead})
