-- rewrite: rewrites data files of which many rows have been deleted.
-- With data inlining on, run flush first.
--
-- For one table, or from another share of deleted rows on (0.95 by default):
--   CALL ducklake_rewrite_data_files('lake', 'orders', schema => 'raw');
--   CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.5);

CALL ducklake_rewrite_data_files('lake');
