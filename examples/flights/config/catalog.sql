-- The lake: metadata in an SQLite file, data as Parquet files beside it.
-- Inlining is off, so that every change is read from files and none from the
-- metadata; WAL and the timeout let others read while a run writes.
ATTACH 'ducklake:sqlite:ducklake.sqlite' AS lake (
    DATA_PATH 'ducklake.sqlite.files',
    DATA_INLINING_ROW_LIMIT 0,
    META_JOURNAL_MODE 'WAL',
    META_BUSY_TIMEOUT 5000
);
