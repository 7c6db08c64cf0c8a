-- A request that was answered after its worker gave up waiting has claimed already.
SELECT CAST(CASE WHEN count(*) = 0 THEN '1' ELSE 'fence:already_done:' || count(*) END AS INTEGER)
FROM sync_claim WHERE claim_id = {claim};
