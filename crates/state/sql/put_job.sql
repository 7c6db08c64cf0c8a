UPDATE sync_jobref SET job_ref = {job_ref}, fingerprint = {fingerprint}, first_seq = {first_seq}, last_seq = {last_seq},
    updated_at = now()
WHERE claim_id = {claim} AND batch = {batch};
INSERT INTO sync_jobref (claim_id, batch, target, job_ref, fingerprint, first_seq, last_seq, updated_at)
SELECT {claim}, {batch}, {target}, {job_ref}, {fingerprint}, {first_seq}, {last_seq}, now()
WHERE NOT EXISTS (SELECT 1 FROM sync_jobref WHERE claim_id = {claim} AND batch = {batch});
