-- The lake's metadata in PostgreSQL, its files in an object store: any number of machines can work on it.
ATTACH 'ducklake:postgres:host=${PG_HOST} port=${PG_PORT} user=${PG_USER} dbname=lake' AS lake (
    DATA_PATH 's3://${LAKE_BUCKET}/data',
    DATA_INLINING_ROW_LIMIT 0
);
