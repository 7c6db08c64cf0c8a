-- Events numbered up to `since_seq` are of a table that was dropped: their rows are not those of the table that is
-- there now.
ALTER TABLE sync_feed ADD COLUMN since_seq BIGINT DEFAULT 0;
