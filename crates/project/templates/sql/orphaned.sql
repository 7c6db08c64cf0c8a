-- orphaned: deletes files in the data path that the lake does not know,
-- as a run leaves them that was killed. Only those older than 7 days: a run that
-- is under way has files, too, that the lake does not know yet.
--
-- To see what would go:
--   CALL ducklake_delete_orphaned_files('lake', older_than => now() - INTERVAL 7 DAY, dry_run => true);

CALL ducklake_delete_orphaned_files('lake', older_than => now() - INTERVAL 7 DAY);
