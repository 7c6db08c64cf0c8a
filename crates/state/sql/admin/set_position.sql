-- Whoever feeds from the old position collides, or finds that it moved. The numbers of events go on. A lake whose newest
-- snapshot is before the position was restored: what is known of its rows is of another past.
UPDATE sync_feed SET snapshot_id = {snapshot}, table_uuid = {table_uuid}, definition_hash = {definition_hash},
    since_seq = CASE WHEN table_uuid <> {table_uuid} OR snapshot_id > {snapshot} THEN last_seq ELSE since_seq END,
    updated_at = now()
WHERE target = {target};
INSERT INTO sync_feed (target, snapshot_id, table_uuid, definition_hash, last_seq, updated_at)
SELECT {target}, {snapshot}, {table_uuid}, {definition_hash}, 0, now()
WHERE NOT EXISTS (SELECT 1 FROM sync_feed WHERE target = {target});
