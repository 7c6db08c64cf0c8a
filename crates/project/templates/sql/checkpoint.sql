-- checkpoint: all maintenance in one go, for a nightly job. The order
-- matters: rows become files first, then what is old is forgotten, so that merge
-- and rewrite spend no time on it, and files go last. Each step has a script of
-- its own in this folder, which says more about it.

-- 1. Inlined rows to files.
CALL ducklake_flush_inlined_data('lake');

-- 2. Snapshots older than 30 days.
CALL ducklake_expire_snapshots('lake', older_than => now() - INTERVAL 30 DAY);

-- 3. Small files to larger ones.
CALL ducklake_merge_adjacent_files('lake');

-- 4. Files with many deleted rows.
CALL ducklake_rewrite_data_files('lake');

-- 5. Files that no snapshot has needed for 7 days.
CALL ducklake_cleanup_old_files('lake', older_than => now() - INTERVAL 7 DAY);

-- 6. Files older than 7 days that the lake does not know.
CALL ducklake_delete_orphaned_files('lake', older_than => now() - INTERVAL 7 DAY);
