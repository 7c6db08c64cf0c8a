-- cleanup: deletes data files that no snapshot needs any more, once
-- they have been unneeded for 7 days. Queries that still read them would fail,
-- so leave more time than your longest query takes.
--
-- To see what would go:
--   CALL ducklake_cleanup_old_files('lake', older_than => now() - INTERVAL 7 DAY, dry_run => true);

CALL ducklake_cleanup_old_files('lake', older_than => now() - INTERVAL 7 DAY);
