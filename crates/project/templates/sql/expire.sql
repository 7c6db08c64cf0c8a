-- expire: forgets snapshots older than 30 days, which ends time travel
-- to them. Their data files stay until cleanup. Snapshots that the next run
-- needs are kept, and the command says for which model.
--
-- To see what would go:
--   CALL ducklake_expire_snapshots('lake', older_than => now() - INTERVAL 30 DAY, dry_run => true);

CALL ducklake_expire_snapshots('lake', older_than => now() - INTERVAL 30 DAY);
