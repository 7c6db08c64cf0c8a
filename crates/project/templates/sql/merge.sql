-- merge: joins small adjacent data files to larger ones, as many small
-- runs leave them. No snapshot is lost. The old files stay until cleanup.
--
-- For one table, or a few files at a time:
--   CALL ducklake_merge_adjacent_files('lake', 'orders', schema => 'raw');
--   CALL ducklake_merge_adjacent_files('lake', max_compacted_files => 100);

CALL ducklake_merge_adjacent_files('lake');
