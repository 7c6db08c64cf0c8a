-- Of two workers that begin a target one breaks the key.
INSERT INTO sync_feed (target, snapshot_id, table_uuid, definition_hash, last_seq, updated_at)
VALUES ({target}, {snapshot}, {table_uuid}, {definition_hash}, {last_seq}, now());
