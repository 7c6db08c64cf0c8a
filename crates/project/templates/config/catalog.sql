-- The lake: the one DuckLake catalog that models are written to.
--
-- Its metadata (tables, snapshots, which file belongs to what) is in a database,
-- its rows are in Parquet files under DATA_PATH. Attach exactly one DuckLake
-- here. Paths are relative to the project's folder. ${NAME} is read from the
-- environment or from .env.
--
--   Metadata in   Runs at a time            Good for
--   SQLite        one, others can read      one machine (the default)
--   DuckDB        one, nobody else          one machine, the fastest
--   PostgreSQL    many, on many machines    teams and servers
--
-- Changing the line below starts a new, empty lake: what is in the old one is
-- not moved. The scripts in sql/ expect the alias lake.

ATTACH 'ducklake:sqlite:ducklake.sqlite' AS lake (
    DATA_PATH 'ducklake.sqlite.files',
    -- Every row goes to a Parquet file. With rows kept in the metadata (inlined),
    -- the lake's record of changes is not exact any more after maintenance.
    DATA_INLINING_ROW_LIMIT 0,
    -- Lets other processes read while a run writes, and wait for a busy file.
    META_JOURNAL_MODE 'WAL',
    META_BUSY_TIMEOUT 5000
);


-- ---- Options --------------------------------------------------------------
-- More options for the parentheses above:
--
--   ENCRYPTED                       encrypt the Parquet files. The keys are in the
--                                   metadata. Only for a lake that is still new
--   OVERRIDE_DATA_PATH true         the files have been moved to another DATA_PATH
--   AUTOMATIC_MIGRATION true        accept a lake of an older DuckLake version
--
-- Settings that the lake itself remembers are set once, from any DuckDB that has
-- attached it:
--
--   CALL lake.set_option('parquet_compression', 'zstd');
--   CALL lake.set_option('target_file_size', '256MB');


-- ---- Rows on S3 -----------------------------------------------------------
-- The metadata stays where it is. Needs httpfs (config/extensions.sql) and a
-- secret (config/secrets.sql).
--
-- ATTACH 'ducklake:sqlite:ducklake.sqlite' AS lake (
--     DATA_PATH 's3://my-bucket/lake/',
--     DATA_INLINING_ROW_LIMIT 0,
--     META_JOURNAL_MODE 'WAL',
--     META_BUSY_TIMEOUT 5000
-- );


-- ---- Metadata in DuckDB ---------------------------------------------------
-- The META_ options above are SQLite's. DuckDB knows neither.
--
-- ATTACH 'ducklake:duckdb:ducklake.duckdb' AS lake (
--     DATA_PATH 'ducklake.duckdb.files',
--     DATA_INLINING_ROW_LIMIT 0
-- );


-- ---- Metadata in PostgreSQL -----------------------------------------------
-- The database has to exist. Workers on several machines need a DATA_PATH that
-- all of them reach, and a shared state (config/state.sql).
--
-- ATTACH 'ducklake:postgres:dbname=ducklake host=localhost port=5432 user=ondatra password=${PG_CATALOG_PASSWORD}' AS lake (
--     DATA_PATH 's3://my-bucket/lake/',
--     DATA_INLINING_ROW_LIMIT 0
-- );
