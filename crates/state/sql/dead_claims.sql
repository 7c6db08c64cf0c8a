-- Claims that nobody renews: of workers that are gone, and those that this one took without learning of it. Only
-- candidates: whether one is dead is decided where it is taken over, since a worker may come back to life meanwhile.
SELECT c.claim_id, c.target, c.worker, EXISTS (SELECT 1 FROM sync_jobref AS j WHERE j.claim_id = c.claim_id) AS job
FROM sync_claim AS c WHERE c.claim_id NOT IN {held} AND {dead} ORDER BY c.claimed_at, c.claim_id
