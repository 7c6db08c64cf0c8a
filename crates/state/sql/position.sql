SELECT f.snapshot_id, f.table_uuid, f.definition_hash, f.last_seq,
    CAST(extract(epoch FROM now()) * 1000000 AS BIGINT) AS now_us
FROM (SELECT 1 AS one) AS once LEFT JOIN sync_feed AS f ON f.target = {target}
