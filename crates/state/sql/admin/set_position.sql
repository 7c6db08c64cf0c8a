-- Whoever feeds from the old position collides, or finds that it moved. The numbers of events go on.
UPDATE sync_feed SET snapshot_id = {snapshot}, table_uuid = {table_uuid}, definition_hash = {definition_hash},
    updated_at = now()
WHERE target = {target};
INSERT INTO sync_feed (target, snapshot_id, table_uuid, definition_hash, last_seq, updated_at)
SELECT {target}, {snapshot}, {table_uuid}, {definition_hash}, 0, now()
WHERE NOT EXISTS (SELECT 1 FROM sync_feed WHERE target = {target});
