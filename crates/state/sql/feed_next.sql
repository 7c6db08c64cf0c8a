-- The position is the fence: whoever moved it fed the same changes. It is looked at before it is moved, since two
-- workers move it to the same place; that only one of them does is a conflict.
SELECT CAST(CASE WHEN count(*) = 1 THEN '1' ELSE 'fence:position_moved:' || count(*) END AS INTEGER)
FROM sync_feed WHERE target = {target} AND snapshot_id = {from_snapshot} AND last_seq = {from_seq};
UPDATE sync_feed SET snapshot_id = {snapshot}, table_uuid = {table_uuid}, definition_hash = {definition_hash},
    since_seq = CASE WHEN table_uuid <> {table_uuid} THEN last_seq ELSE since_seq END, last_seq = {last_seq}, updated_at = now()
WHERE target = {target} AND snapshot_id = {from_snapshot} AND last_seq = {from_seq};
