-- flush: writes rows that are still inlined in the metadata catalog
-- to Parquet files. Without data inlining there are none.
--
-- The scripts in this folder call the lake by its alias: change 'lake' here if
-- you change it in config/catalog.sql. For one table only:
--   CALL ducklake_flush_inlined_data('lake', schema_name => 'raw', table_name => 'orders');

CALL ducklake_flush_inlined_data('lake');
