-- Ends the whole transaction while a living worker delivers events of the target. A claim that begins at the same time
-- deletes events that this transaction deletes too: of the two one collides.
SELECT CAST(CASE WHEN count(*) = 0 THEN '1' ELSE 'fence:in_flight:' || count(*) END AS INTEGER)
FROM sync_claim WHERE target = {target} AND (claim_id IN {held} OR NOT ({dead}));
