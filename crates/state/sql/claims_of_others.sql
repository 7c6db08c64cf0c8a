-- Which of them are dead is decided where they are taken over: a worker may come back to life meanwhile.
SELECT c.claim_id, c.target, c.worker, EXISTS (SELECT 1 FROM sync_jobref AS j WHERE j.claim_id = c.claim_id) AS job
FROM sync_claim AS c WHERE c.worker <> {worker} ORDER BY c.claimed_at, c.claim_id
