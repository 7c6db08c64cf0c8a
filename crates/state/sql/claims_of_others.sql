-- Only candidates: whether one is dead is decided where it is taken over, since a worker may come back to life
-- meanwhile. Trying all of them would keep many workers busy with each other.
SELECT c.claim_id, c.target, c.worker, EXISTS (SELECT 1 FROM sync_jobref AS j WHERE j.claim_id = c.claim_id) AS job
FROM sync_claim AS c WHERE c.worker <> {worker} AND {dead} ORDER BY c.claimed_at, c.claim_id
