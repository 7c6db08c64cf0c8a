UPDATE sync_receipt SET done = done + (SELECT count(*) FROM sync_dead WHERE target = {target}) WHERE term = {term};
DELETE FROM sync_dead WHERE target = {target};
DELETE FROM sync_feed WHERE target = {target};
