SELECT worker FROM sync_lease WHERE target = {target}
