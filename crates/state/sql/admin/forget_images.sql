-- An answer that is not applied yet would become a dead letter with its row.
UPDATE sync_dead SET row_image = NULL WHERE target = {target} AND row_image IS NOT NULL;
UPDATE sync_apply_log SET row_image = NULL WHERE target = {target} AND row_image IS NOT NULL;
