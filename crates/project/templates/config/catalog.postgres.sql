-- The lake: the one DuckLake catalog that models are written to.
--
-- Its metadata (tables, snapshots, which file belongs to what) is in a
-- PostgreSQL database, its rows are in Parquet files under DATA_PATH. Attach
-- exactly one DuckLake here. Paths are relative to the project's folder.
--
--   Metadata in   Runs at a time            Good for
--   PostgreSQL    many, on many machines    teams and servers
--   SQLite        one, others can read      one machine
--   DuckDB        one, nobody else          one machine, the fastest
--
-- Before the first run:
--
-- 1. Make the database and its user: createdb ducklake
-- 2. Fill in these lines of .env, or set them in the environment:
--        PG_CATALOG_HOST=localhost
--        PG_CATALOG_PORT=5432
--        PG_CATALOG_DATABASE=ducklake
--        PG_CATALOG_USER=ondatra
--        PG_CATALOG_PASSWORD=...
-- 3. For workers on several machines: a DATA_PATH that all of them reach (see
--    below), and a shared state (config/state.sql).
--
-- A password with spaces, apostrophes or backslashes has to be escaped as
-- PostgreSQL's connection strings want it: a\ b for a b.
--
-- Changing the line below starts a new, empty lake: what is in the old one is
-- not moved. The scripts in sql/ expect the alias lake.

ATTACH 'ducklake:postgres:dbname=${PG_CATALOG_DATABASE} host=${PG_CATALOG_HOST} port=${PG_CATALOG_PORT} user=${PG_CATALOG_USER} password=${PG_CATALOG_PASSWORD}' AS lake (
    DATA_PATH 'ducklake.postgres.files',
    -- Every row goes to a Parquet file. With rows kept in the metadata (inlined),
    -- the lake's record of changes is not exact any more after maintenance.
    DATA_INLINING_ROW_LIMIT 0
);


-- ---- Options --------------------------------------------------------------
-- More options for the parentheses above:
--
--   METADATA_SCHEMA 'name'          keep the metadata in a schema of this name, so
--                                   that several lakes can share a database
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
-- Needs httpfs (config/extensions.sql) and a secret (config/secrets.sql). In the
-- parentheses above write:
--
--     DATA_PATH 's3://my-bucket/lake/',


-- ---- Metadata in SQLite or DuckDB -----------------------------------------
-- ATTACH 'ducklake:sqlite:ducklake.sqlite' AS lake (
--     DATA_PATH 'ducklake.sqlite.files',
--     DATA_INLINING_ROW_LIMIT 0,
--     META_JOURNAL_MODE 'WAL',
--     META_BUSY_TIMEOUT 5000
-- );
--
-- ATTACH 'ducklake:duckdb:ducklake.duckdb' AS lake (
--     DATA_PATH 'ducklake.duckdb.files',
--     DATA_INLINING_ROW_LIMIT 0
-- );
