INSERT INTO sync_fetch (claim_id, target, worker, run_id, status, fingerprint, row_count, claimed_at, lease_until)
SELECT {claim}, {target}, {worker}, {run_id}, 'open', {fingerprint}, 0, now(),
    {lease_end}
WHERE NOT EXISTS (SELECT 1 FROM sync_fetch WHERE claim_id = {claim});
