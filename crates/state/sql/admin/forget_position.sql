-- The row stays, since it gives the numbers of events, which go on.
UPDATE sync_feed SET snapshot_id = {beginning}, updated_at = now() WHERE target = {target};
