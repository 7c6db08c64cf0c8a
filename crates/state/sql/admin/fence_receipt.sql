-- A request that is executed twice, or after its caller gave up waiting, does nothing the second time.
SELECT CAST(CASE WHEN count(*) = 0 THEN '1' ELSE 'fence:already_done:' || count(*) END AS INTEGER)
FROM sync_receipt WHERE term = {term};
DELETE FROM sync_receipt WHERE made_at < now() - INTERVAL '1 day';
